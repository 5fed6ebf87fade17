/*-------------------------------------------------------------------------
 *
 * settings.h
 *		The configuration parameters of ordered_update.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_SETTINGS_H
#define OU_SETTINGS_H

extern char *ou_default_table;
extern char *ou_default_counter;
extern bool ou_order_statements;
extern bool ou_log_unordered;

extern void ou_settings_define(void);

#endif							/* OU_SETTINGS_H */
