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

#include "settings.h"

/* Table of the short form, written as SQL would write it. */
char	   *ou_default_table;

/* Counter column of the short form: the bare name, not quoted. */
char	   *ou_default_counter;

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
	MarkGUCPrefixReserved("ordered_update");
}
