/*-------------------------------------------------------------------------
 *
 * sql_text.h
 *		The text of the statements that lock, look for and change a batch.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_SQL_TEXT_H
#define OU_SQL_TEXT_H

#include "nodes/bitmapset.h"

#include "keyset.h"
#include "row_lock.h"

/* What happens to the rows once they are locked. */
typedef enum ChangeKind
{
	CHANGE_NONE,				/* they stay locked */
	CHANGE_INCREMENT,			/* one amount is added to one column */
	CHANGE_ADD,					/* each has amounts of its own */
	CHANGE_SET,					/* each has new values of its own */
	CHANGE_UPSERT,				/* the same, and absent rows are inserted */
	CHANGE_DELETE
} ChangeKind;

/* What to do about a row that somebody else has locked. */
typedef enum LockWait
{
	WAIT_UNTIL_FREE,
	WAIT_NOT					/* raise 55P03 */
} LockWait;

/* How the change statement finds the rows that the lock statement locked. */
typedef enum LocateBy
{
	LOCATE_BY_CTID,
	LOCATE_BY_KEY
} LocateBy;

/* What is returned of each row. */
typedef enum ResultShape
{
	RESULT_ROW,					/* the whole row */
	RESULT_ID_REVISION,			/* key and counter, as two integers */
	RESULT_NONE					/* only how many there are */
} ResultShape;

/*
 * All that decides the text of a batch's statements.  Two batches with equal
 * shapes share their plans.
 */
typedef struct BatchShape
{
	Oid			relid;
	ChangeKind	change;
	KeySource	source;
	LockStrength strength;
	LockWait	wait;
	LocateBy	locate;
	ResultShape result;
	Bitmapset  *columns;		/* attribute numbers of the columns that the
								 * batch names, key columns too if it does */
	Bitmapset  *optional;		/* those that not every change names */
} BatchShape;

/* Name of the relation that holds the changes while a statement runs. */
#define OU_CHANGES_NAME "ordered_update_changes"

/*
 * Cursor options, unused by the server, that pass through SPI and the plan
 * cache to the planner: of statements that need no order but the one they
 * have, and of those that are to be ordered whatever the setting.
 */
#define OU_CURSOR_OPT_HAS_ORDER 0x40000000
#define OU_CURSOR_OPT_GIVE_ORDER 0x20000000

/* How many rows plans expect in it: they are made once for all batches. */
#define OU_CHANGES_ESTIMATE 100

/* Column of that relation with the ctid of the row to change. */
#define OU_CHANGES_CTID "tid"

/* The statements of a batch. */
typedef enum Statement
{
	STATEMENT_READ,
	STATEMENT_LOCK,
	STATEMENT_LOOK,
	STATEMENT_LOOK_LOCKING,
	STATEMENT_HEADERS,
	STATEMENT_CHANGE,
	STATEMENT_LOCK_AND_CHANGE	/* rows that are not locked yet */
} Statement;

#define NSTATEMENTS (STATEMENT_LOCK_AND_CHANGE + 1)

/* A statement and the types of its parameters. */
typedef struct SqlText
{
	char	   *text;
	int			nparams;
	Oid		   *paramtypes;
} SqlText;

extern CmdType ou_sql_change_event(ChangeKind change);
extern LockStrength ou_sql_strength(const Target *target, const BatchShape *shape);
extern Bitmapset *ou_sql_changed_columns(const Target *target, const BatchShape *shape);
extern SqlText ou_sql_build(const Target *target, const BatchShape *shape, Statement statement);

#endif							/* OU_SQL_TEXT_H */
