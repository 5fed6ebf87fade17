/*-------------------------------------------------------------------------
 *
 * merge_actions.h
 *		The actions of a MERGE.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_MERGE_ACTIONS_H
#define OU_MERGE_ACTIONS_H

#include "nodes/parsenodes.h"

extern bool ou_merge_acts(const Query *query, CmdType command);
extern bool ou_merge_sorts_inserted(const Query *query, const List *key);
extern List *ou_merge_make_sort_keys(const Query *query, const List *key, List *columns);

#endif							/* OU_MERGE_ACTIONS_H */
