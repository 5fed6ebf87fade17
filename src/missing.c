/*-------------------------------------------------------------------------
 *
 * missing.c
 *		Wanted minus locked, and its one report.
 *
 * Both sides ascend, so that one walk along both finds what is missing.  What
 * a missing key means, an absent row or one that was replaced meanwhile, is
 * decided by the caller, who looks again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "missing.h"

/* How many keys a report names. */
#define MAX_NAMED_KEYS 10

/*
 * Begin a walk along the wanted keys.  The list of missing ones is in the
 * current memory context.
 */
void
ou_missing_begin(Missing *missing, const Keyset *wanted)
{
	missing->wanted = wanted;
	missing->next = 0;
	missing->positions = palloc(sizeof(int) * wanted->nkeys);
	missing->npositions = 0;
}

/*
 * Note that the row with this key was found.  Rows come in key order; the
 * result is false for a key that is not wanted or not above the one before it.
 */
bool
ou_missing_match(Missing *missing, const Datum *key)
{
	const Keyset *wanted = missing->wanted;

	while (missing->next < wanted->nkeys)
	{
		int			order = ou_keytype_compare(wanted->keytype,
											   ou_keyset_key(wanted, missing->next), key);

		if (order > 0)
			return false;
		if (order == 0)
		{
			missing->next++;
			return true;
		}
		missing->positions[missing->npositions++] = missing->next++;
	}
	return false;
}

/*
 * End the walk: what was not reached is missing.
 */
void
ou_missing_end(Missing *missing)
{
	while (missing->next < missing->wanted->nkeys)
		missing->positions[missing->npositions++] = missing->next++;
}

/*
 * Append a sentence that names missing keys: at most ten, then a count.
 */
void
ou_missing_describe_absent(StringInfo out, const Target *target, const Keyset *absent)
{
	StringInfoData keys;
	int			nnamed = Min(absent->nkeys, MAX_NAMED_KEYS);

	initStringInfo(&keys);
	for (int i = 0; i < nnamed; i++)
	{
		appendStringInfoString(&keys, i > 0 ? ", " : "");
		ou_keytype_print(&keys, target->key, ou_keyset_key(absent, i));
	}
	if (absent->nkeys > nnamed)
		appendStringInfo(&keys, _(" and %d more"), absent->nkeys - nnamed);
	appendStringInfo(out, ngettext("The missing key is %s=%s.",
								   "The missing keys are %s=%s.", absent->nkeys),
					 target->key_names, keys.data);
}

/*
 * Raise P0002 for wanted rows that do not exist, or that the caller may not
 * see: the two are not told apart.
 */
void
ou_missing_report_absent(const Target *target, const Keyset *absent)
{
	StringInfoData detail;

	initStringInfo(&detail);
	ou_missing_describe_absent(&detail, target, absent);
	ereport(ERROR,
			(errcode(ERRCODE_NO_DATA_FOUND),
			 errmsg_plural("%d row of table \"%s\" does not exist or is not visible",
						   "%d rows of table \"%s\" do not exist or are not visible",
						   absent->nkeys, absent->nkeys, target->name),
			 errdetail_internal("%s", detail.data),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, target->schema),
			 err_generic_string(PG_DIAG_TABLE_NAME, target->name)));
}

/*
 * Raise 40001 for a row that was deleted and inserted again, or whose key was
 * changed, by another transaction while this one waited for it.
 */
void
ou_missing_report_replaced(const Target *target, const Datum *key)
{
	StringInfoData keys;

	initStringInfo(&keys);
	ou_keytype_print(&keys, target->key, key);

	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent insert or key change"),
			 errdetail("The row with key %s=%s of table \"%s\" exists but could not be locked.",
					   target->key_names, keys.data, target->name),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, target->schema),
			 err_generic_string(PG_DIAG_TABLE_NAME, target->name)));
}
