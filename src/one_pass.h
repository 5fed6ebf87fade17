/*-------------------------------------------------------------------------
 *
 * one_pass.h
 *		Whether the statement that changes rows may be the one that locks them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_ONE_PASS_H
#define OU_ONE_PASS_H

#include "sql_text.h"

extern bool ou_one_pass_is_safe(const Target *target, const BatchShape *shape);

#endif							/* OU_ONE_PASS_H */
