/*-------------------------------------------------------------------------
 *
 * statements.h
 *		Ordered statements: the planner hook.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_STATEMENTS_H
#define OU_STATEMENTS_H

/* Name of the columns, from 1, that an ordered statement is sorted by. */
#define OU_SORT_KEY_NAME "ordered_update key %d"

extern void ou_statements_install(void);

#endif							/* OU_STATEMENTS_H */
