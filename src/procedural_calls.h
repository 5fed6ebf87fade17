/*-------------------------------------------------------------------------
 *
 * procedural_calls.h
 *		Functions that can see what the statement has changed so far.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_PROCEDURAL_CALLS_H
#define OU_PROCEDURAL_CALLS_H

#include "nodes/parsenodes.h"

extern bool ou_procedural_calls_exist(Node *node);
extern bool ou_procedural_calls_choose_rows(const Query *query);

#endif							/* OU_PROCEDURAL_CALLS_H */
