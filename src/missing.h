/*-------------------------------------------------------------------------
 *
 * missing.h
 *		Wanted minus locked, and its one report.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_MISSING_H
#define OU_MISSING_H

#include "keyset.h"

typedef struct Missing
{
	const Keyset *wanted;
	int			next;			/* first position not yet decided */
	int		   *positions;		/* of the wanted keys that were not found */
	int			npositions;
} Missing;

extern void ou_missing_begin(Missing *missing, const Keyset *wanted);
extern bool ou_missing_match(Missing *missing, const Datum *key);
extern void ou_missing_end(Missing *missing);
extern void ou_missing_describe_absent(StringInfo out, const Target *target, const Keyset *absent);
extern void ou_missing_report_absent(const Target *target, const Keyset *absent);
extern void ou_missing_report_replaced(const Target *target, const Datum *key);

#endif							/* OU_MISSING_H */
