/*-------------------------------------------------------------------------
 *
 * json_changes.h
 *		A JSON batch: which columns its objects name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_JSON_CHANGES_H
#define OU_JSON_CHANGES_H

#include "nodes/bitmapset.h"
#include "utils/jsonb.h"

#include "keyset.h"

/* Columns that the objects name, by attribute number. */
typedef struct JsonColumns
{
	Bitmapset  *all;			/* named by any object */
	Bitmapset  *common;			/* named by every object */
	Bitmapset  *null;			/* null in any object */
} JsonColumns;

extern void ou_json_columns_read(JsonColumns *columns, Jsonb *changes, Oid relid);
extern KeySource ou_json_objects_source(const Jsonb *changes);
extern KeySource ou_json_keys_read(Jsonb *keys, Oid relid, Bitmapset **columns);

#endif							/* OU_JSON_CHANGES_H */
