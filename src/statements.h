/*-------------------------------------------------------------------------
 *
 * statements.h
 *		Ordered statements: the planner hook.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_STATEMENTS_H
#define OU_STATEMENTS_H

extern void ou_statements_install(void);

#endif							/* OU_STATEMENTS_H */
