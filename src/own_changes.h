/*-------------------------------------------------------------------------
 *
 * own_changes.h
 *		Sources of a statement that depend on what it has changed so far.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_OWN_CHANGES_H
#define OU_OWN_CHANGES_H

#include "nodes/parsenodes.h"

extern bool ou_own_changes_are_locked(const Query *query);
extern bool ou_own_changes_are_mixed(const Query *query);

#endif							/* OU_OWN_CHANGES_H */
