/*-------------------------------------------------------------------------
 *
 * keytype.h
 *		Order, equality and printing of a table's primary key.
 *
 * A key is an array of Datums, one per key column, in key column order.  Key
 * columns are never null.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_KEYTYPE_H
#define OU_KEYTYPE_H

#include "lib/stringinfo.h"
#include "utils/relcache.h"
#include "utils/sortsupport.h"

/* One column of the key. */
typedef struct KeyColumn
{
	AttrNumber	attnum;			/* in the table */
	char	   *name;
	Oid			type;			/* base type: never a domain */
	Oid			arraytype;		/* array over type */
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Oid			collation;		/* of the index, which is the column's */
	Oid			equal;			/* operators of the index's operator family */
	Oid			less;
	Oid			output;			/* output function of type */
	SortSupportData order;		/* comparator of the index's operator class */
} KeyColumn;

typedef struct KeyType
{
	int			ncolumns;
	KeyColumn	columns[FLEXIBLE_ARRAY_MEMBER];
} KeyType;

extern KeyType *ou_keytype_describe(Relation rel, Relation index);
extern int	ou_keytype_compare(KeyType *keytype, const Datum *a, const Datum *b);
extern Datum *ou_keytype_copy(const KeyType *keytype, const Datum *key, MemoryContext context);
extern void ou_keytype_print(StringInfo out, const KeyType *keytype, const Datum *key);
extern void ou_keytype_print_names(StringInfo out, const KeyType *keytype);

#endif							/* OU_KEYTYPE_H */
