/*-------------------------------------------------------------------------
 *
 * target.h
 *		The table whose rows a batch locks: found, locked, checked, described.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_TARGET_H
#define OU_TARGET_H

#include "nodes/bitmapset.h"
#include "nodes/nodes.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/numeric.h"
#include "utils/relcache.h"

#include "keytype.h"

/* One column of the table, by attribute number - 1. */
typedef struct TargetColumn
{
	char	   *name;			/* NULL if dropped */
	Oid			type;			/* base type: never a domain */
	int32		typmod;			/* for type */
	Oid			collation;
	bool		is_computed;	/* generated, or identity ALWAYS */
} TargetColumn;

typedef struct Target
{
	Oid			relid;
	Oid			rowtype;		/* the table's composite type */
	char		relkind;
	char	   *schema;
	char	   *name;
	char	   *qualified;		/* schema.name, which gives the order of
								 * tables */
	char	   *key_names;		/* as (a, b) */
	int			ncolumns;
	TargetColumn *columns;
	Bitmapset  *referable;		/* attribute numbers that a foreign key could
								 * reference */
	KeyType    *key;
	Bitmapset  *key_columns;	/* attribute numbers of the key */
} Target;

/* Who wants a table, for reports. */
typedef struct LockRequest
{
	const char *verb;
	const char *hint;			/* if there is no such table, or NULL; to be
								 * translated */
	int			batch_size;
} LockRequest;

extern Oid	ou_target_lock_by_name(const char *name, const LockRequest *request, LOCKMODE *held);
extern Oid	ou_target_lock_by_rowtype(Oid rowtype, const LockRequest *request, LOCKMODE *held);
extern void ou_target_check_writable(const char *verb);
extern Target *ou_target_describe(Oid relid, CmdType event);
extern Target *ou_target_describe_key(Oid relid);
extern bool ou_target_is_unchanged(const Target *target);
extern List *ou_target_find_key(Relation rel);
extern bool ou_target_has_ctids(Oid relid);
extern bool ou_target_is_readable(Oid relid);
extern bool ou_target_is_lockable(Oid relid);
extern AttrNumber ou_target_find_column(Oid relid, const char *column, const char *hint);
extern AttrNumber ou_target_find_counter(Oid relid, const char *column);
extern void ou_target_check_counter(const Target *target, AttrNumber attnum);
extern void ou_target_check_amount(const Target *target, AttrNumber attnum, Numeric amount);
extern void ou_target_check_named(const Target *target, const Bitmapset *common);

#endif							/* OU_TARGET_H */
