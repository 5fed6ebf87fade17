/*-------------------------------------------------------------------------
 *
 * unique_columns.h
 *		The columns that unique indexes of a table look at.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_UNIQUE_COLUMNS_H
#define OU_UNIQUE_COLUMNS_H

#include "nodes/bitmapset.h"
#include "utils/relcache.h"

extern Bitmapset *ou_unique_columns_add_expression(Bitmapset *attnums, Relation rel, Node *expr);
extern Bitmapset *ou_unique_columns_add_generated(Bitmapset *attnums, Relation rel);
extern Bitmapset *ou_unique_columns_find(Relation rel);
extern bool ou_unique_columns_are_key(Relation rel);

#endif							/* OU_UNIQUE_COLUMNS_H */
