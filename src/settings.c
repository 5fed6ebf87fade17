/*-------------------------------------------------------------------------
 *
 * settings.c
 *		The configuration parameters of ordered_update.
 *
 * Only defines them.  What a value means is decided where it is used.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/plancache.h"

#include "settings.h"

/* Table of the short form, written as SQL would write it. */
char	   *ou_default_table;

/* Counter column of the short form: the bare name, not quoted. */
char	   *ou_default_counter;

/* Whether ordinary statements visit rows in primary key order. */
bool		ou_order_statements = false;

/* Whether to log which statements do not, and why. */
bool		ou_log_unordered = false;

/* Whether to watch the order in which a transaction locks rows. */
int			ou_order_check = ORDER_CHECK_WARNING;

static const struct config_enum_entry order_check_options[] = {
	{"off", ORDER_CHECK_OFF, false},
	{"warning", ORDER_CHECK_WARNING, false},
	{"error", ORDER_CHECK_ERROR, false},
	{NULL, 0, false}
};

/*
 * Have all statements planned anew, those prepared before too, when a
 * parameter changes that plans depend on.
 */
static void
assign_order_statements(bool newval, void *extra)
{
	if (newval != ou_order_statements)
		ResetPlanCache();
}

static void
assign_log_unordered(bool newval, void *extra)
{
	if (newval != ou_log_unordered)
		ResetPlanCache();
}

/*
 * Define the parameters and reserve their prefix.  Values set before the
 * library was loaded take effect here.
 */
void
ou_settings_define(void)
{
	DefineCustomStringVariable("ordered_update.default_table",
							   "Table that ordered_increment(integer[]) changes.",
							   "A table name as in SQL: quoted and qualified where needed.",
							   &ou_default_table,
							   "deadlock_demo_articles",
							   PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("ordered_update.default_counter",
							   "Column that ordered_increment(integer[]) adds 1 to.",
							   "A bare column name, without SQL quoting.",
							   &ou_default_counter,
							   "revision",
							   PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("ordered_update.order_check",
							 "Says when a verb locks rows out of the order of its transaction.",
							 NULL,
							 &ou_order_check,
							 ORDER_CHECK_WARNING,
							 order_check_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("ordered_update.order_statements",
							 "Makes ordinary statements lock rows in primary key order.",
							 "UPDATE, DELETE, MERGE, INSERT ... ON CONFLICT and SELECT ... FOR UPDATE or SHARE.",
							 &ou_order_statements,
							 false,
							 PGC_USERSET, 0, NULL, assign_order_statements, NULL);
	DefineCustomBoolVariable("ordered_update.log_unordered",
							 "Logs each statement that order_statements leaves alone, and why.",
							 NULL,
							 &ou_log_unordered,
							 false,
							 PGC_USERSET, 0, NULL, assign_log_unordered, NULL);
	MarkGUCPrefixReserved("ordered_update");
}
