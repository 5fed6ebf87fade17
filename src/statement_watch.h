/*-------------------------------------------------------------------------
 *
 * statement_watch.h
 *		Ordered statements as part of the order of their transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_STATEMENT_WATCH_H
#define OU_STATEMENT_WATCH_H

extern void ou_statement_watch_install(void);

#endif							/* OU_STATEMENT_WATCH_H */
