/*-------------------------------------------------------------------------
 *
 * keyset.h
 *		The keys of a batch: no nulls, no duplicates, in key order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_KEYSET_H
#define OU_KEYSET_H

#include "utils/array.h"

#include "target.h"

/* How the keys of the wanted rows are passed. */
typedef enum KeySource
{
	SOURCE_ARRAY,				/* SQL array */
	SOURCE_OBJECTS,				/* JSON objects, that name columns */
	SOURCE_MANY_OBJECTS,		/* so many that they are read one by one */
	SOURCE_SCALARS				/* JSON scalars, for a key of one column */
} KeySource;

typedef struct Keyset
{
	KeyType    *keytype;
	int			nkeys;
	Datum	   *values;			/* nkeys keys of keytype->ncolumns Datums
								 * each, strictly ascending */
	int			capacity;		/* keys that fit into values */
	MemoryContext context;		/* of values */
} Keyset;

static inline const Datum *
ou_keyset_key(const Keyset *keys, int position)
{
	return keys->values + (Size) position * keys->keytype->ncolumns;
}

extern void ou_keyset_check_array(const ArrayType *array);
extern Keyset *ou_keyset_make(KeyType *keytype);
extern void ou_keyset_append(Keyset *keys, const Datum *key);
extern Keyset *ou_keyset_from_array(const Target *target, ArrayType *array);
extern Keyset *ou_keyset_pick(const Keyset *keys, const int *positions, int npositions);
extern Keyset *ou_keyset_omit(const Keyset *keys, const int *positions, int npositions);
extern int	ou_keyset_to_params(const Keyset *keys, Datum *values);

#endif							/* OU_KEYSET_H */
