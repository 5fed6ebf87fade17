/*-------------------------------------------------------------------------
 *
 * insert_source.h
 *		The rows that an INSERT ... ON CONFLICT is about to insert.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_INSERT_SOURCE_H
#define OU_INSERT_SOURCE_H

#include "nodes/parsenodes.h"
#include "utils/relcache.h"

extern List *ou_insert_find_arbiter(const Query *query, Relation rel);
extern bool ou_insert_has_partial_expression(const Query *query);
extern bool ou_insert_is_changed_first(const Query *query, Relation rel);
extern bool ou_insert_keeps_first(const Query *query, Relation rel);
extern Node *ou_insert_substitute(Node *expr, const Query *query);
extern bool ou_insert_must_settle(const Query *query);
extern List *ou_insert_settle(Query *query, List *keys);

#endif							/* OU_INSERT_SOURCE_H */
