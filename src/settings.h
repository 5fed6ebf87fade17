/*-------------------------------------------------------------------------
 *
 * settings.h
 *		The configuration parameters of ordered_update.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_SETTINGS_H
#define OU_SETTINGS_H

/* What happens when a transaction breaks the order. */
typedef enum OrderCheck
{
	ORDER_CHECK_OFF,
	ORDER_CHECK_WARNING,
	ORDER_CHECK_ERROR
} OrderCheck;

extern int	ou_order_check;		/* an OrderCheck */
extern char *ou_default_table;
extern char *ou_default_counter;
extern bool ou_order_statements;
extern bool ou_log_unordered;

extern void ou_settings_define(void);

#endif							/* OU_SETTINGS_H */
