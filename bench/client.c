/*-------------------------------------------------------------------------
 *
 * client.c
 *		Runs batches of random keys by several methods in turn, and times them.
 *
 * Usage: client METHODS TABLE_ROWS BATCH_SIZE BATCHES ROUNDS [SEED [NAME]]
 *
 * The file METHODS has a block for each method: a line ":name PARAMETER
 * LARGEST_SIZE", lines "+ SQL" to be run once on its connection, and the
 * statements that make a batch, one on a line, each a round trip.  A statement
 * that has $1 in it is passed PARAMETER: "keys", an array of the batch's keys in
 * random order; "changes", a JSON array of objects with a key and two columns;
 * "amounts", one with a key and an amount; "row" and "row_changes", each key on
 * its own in ascending order, the latter with two values.  NAME picks one method.
 *
 * In every round each method runs BATCHES batches, all methods in turn, the
 * first one another each time.  A line of CSV is written for each: method, size,
 * round, batches, microseconds of processor time that the server spent on a
 * batch, microseconds on the clock, bytes of memory that the server's backend
 * needed over what it had, and its process id.
 *
 *-------------------------------------------------------------------------
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libpq-fe.h>

#define MAX_METHODS 32
#define MAX_STATEMENTS 8

typedef struct Method
{
	char		name[64];
	char		parameter[16];
	int			largest;		/* size of batch to run it for */
	char	   *setup[MAX_STATEMENTS];
	int			nsetup;
	char	   *statements[MAX_STATEMENTS];
	int			nstatements;
	PGconn	   *connection;
} Method;

static Method methods[MAX_METHODS];
static int	nmethods;
static int	table_rows;
static int	size;
static int *keys;				/* a permutation of 1 .. table_rows */
static int	changed;			/* rows changed since the last vacuum */

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "client: %s: %s\n", what, why);
	exit(1);
}

/*
 * Read the methods that are run for this size, or the only one asked for.
 */
static void
read_methods(const char *path, const char *only)
{
	FILE	   *file = fopen(path, "r");
	char		line[8192];
	Method	   *method = NULL;

	if (file == NULL)
		fail(path, "cannot be read");
	while (fgets(line, sizeof(line), file) != NULL)
	{
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (line[0] == ':')
		{
			if (nmethods == MAX_METHODS)
				fail(path, "too many methods");
			method = &methods[nmethods++];
			memset(method, 0, sizeof(Method));
			if (sscanf(line, ":%63s %15s %d", method->name, method->parameter,
					   &method->largest) != 3)
				fail(path, line);
			if (method->largest < size || (only != NULL && strcmp(method->name, only) != 0))
				nmethods--;
		}
		else if (method == NULL || method->nsetup + method->nstatements == MAX_STATEMENTS)
			fail(path, line);
		else if (line[0] == '+')
			method->setup[method->nsetup++] = strdup(line + 1);
		else
			method->statements[method->nstatements++] = strdup(line);
	}
	fclose(file);
}

/*
 * Check and free the result of a statement.
 */
static void
finish(const Method *method, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		fail(method->name, PQresultErrorMessage(result));
	PQclear(result);
}

/*
 * Connect, and prepare the statements of a method: by number.
 */
static void
prepare(Method *method)
{
	method->connection = PQconnectdb("");
	if (PQstatus(method->connection) != CONNECTION_OK)
		fail(method->name, PQerrorMessage(method->connection));
	for (int i = 0; i < method->nsetup; i++)
		finish(method, PQexec(method->connection, method->setup[i]));
	for (int i = 0; i < method->nstatements; i++)
	{
		char		name[16];

		snprintf(name, sizeof(name), "s%d", i);
		finish(method, PQprepare(method->connection, name, method->statements[i], 0, NULL));
	}
}

/*
 * Pick the keys of a batch: the first size ones of a shuffle.
 */
static void
pick_keys(void)
{
	for (int i = 0; i < size; i++)
	{
		int			other = i + (int) (drand48() * (table_rows - i));
		int			key = keys[i];

		keys[i] = keys[other];
		keys[other] = key;
	}
}

/*
 * Write the batch as a method wants it.
 */
static char *
write_parameter(const Method *method)
{
	char	   *text = malloc((size_t) size * 80 + 3);
	char	   *end = text;
	bool		is_array = strcmp(method->parameter, "keys") == 0;
	const char *format = is_array ? "%s%d" : "%s{\"id\":%d,\"title\":\"title of %d\",\"revision\":%d}";

	if (strcmp(method->parameter, "amounts") == 0)
		format = "%s{\"id\":%d,\"revision\":1}";
	end += sprintf(end, is_array ? "{" : "[");
	for (int i = 0; i < size; i++)
		end += sprintf(end, format, i > 0 ? "," : "", keys[i], keys[i], i);
	sprintf(end, is_array ? "}" : "]");
	return text;
}

static int
compare(const void *a, const void *b)
{
	return *(const int *) a - *(const int *) b;
}

/*
 * Run a statement once for each key, in ascending order.
 */
static void
run_rows(const Method *method, const char *name)
{
	qsort(keys, size, sizeof(int), compare);
	for (int i = 0; i < size; i++)
	{
		char		key[16];
		char		title[32];
		const char *values[] = {key, title, key};
		int			nvalues = strcmp(method->parameter, "row") == 0 ? 1 : 3;

		snprintf(key, sizeof(key), "%d", keys[i]);
		snprintf(title, sizeof(title), "title of %d", keys[i]);
		finish(method, PQexecPrepared(method->connection, name, nvalues, values, NULL, NULL, 0));
	}
}

/*
 * Run one batch.
 */
static void
run_batch(const Method *method, const char *parameter)
{
	for (int i = 0; i < method->nstatements; i++)
	{
		bool		has_parameter = strstr(method->statements[i], "$1") != NULL;
		char		name[16];

		snprintf(name, sizeof(name), "s%d", i);
		if (has_parameter && strncmp(method->parameter, "row", 3) == 0)
			run_rows(method, name);
		else
			finish(method, PQexecPrepared(method->connection, name, has_parameter ? 1 : 0,
										  &parameter, NULL, NULL, 0));
	}
	changed += size;
}

/*
 * Microseconds on the clock.
 */
static double
clock_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/*
 * Microseconds that a backend has spent on a processor.  Where the system does
 * not tell, the clock.
 */
static double
processor_time(const Method *method)
{
	char		path[64];
	unsigned long long nanoseconds;
	FILE	   *file;
	bool		found;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", PQbackendPID(method->connection));
	file = fopen(path, "r");
	found = file != NULL && fscanf(file, "%llu", &nanoseconds) == 1;
	if (file != NULL)
		fclose(file);
	return found ? nanoseconds / 1e3 : clock_time();
}

/*
 * A field of /proc/PID/status of a backend, in bytes, or 0.
 */
static long
read_status(const Method *method, const char *field)
{
	char		line[256];
	long		kibibytes = 0;
	FILE	   *file;

	snprintf(line, sizeof(line), "/proc/%d/status", PQbackendPID(method->connection));
	file = fopen(line, "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, field, strlen(field)) == 0)
			kibibytes = atol(line + strlen(field) + 1);
	if (file != NULL)
		fclose(file);
	return kibibytes * 1024;
}

/*
 * Have the peak of a backend's memory counted from here.
 */
static void
reset_peak(const Method *method)
{
	char		path[64];
	FILE	   *file;

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", PQbackendPID(method->connection));
	file = fopen(path, "w");
	if (file != NULL)
	{
		fputs("5", file);
		fclose(file);
	}
}

/*
 * Vacuum the tables once a fifth of one has changed, and before each large batch,
 * so that every method finds them in much the same state.
 */
static void
vacuum(void)
{
	if (changed < table_rows / 5 && (changed == 0 || size < table_rows / 20))
		return;
	finish(&methods[0], PQexec(methods[0].connection, "VACUUM a, b"));
	changed = 0;
}

/*
 * Time batches of a method.
 */
static void
measure(const Method *method, int round, int batches)
{
	double		processor = 0;
	double		clock = 0;
	long		before;

	reset_peak(method);
	before = read_status(method, "VmRSS") - read_status(method, "RssShmem");
	for (int i = 0; i < batches; i++)
	{
		char	   *parameter;
		double		processor_before;
		double		clock_before;

		vacuum();
		pick_keys();
		parameter = write_parameter(method);
		processor_before = processor_time(method);
		clock_before = clock_time();
		run_batch(method, parameter);
		clock += clock_time() - clock_before;
		processor += processor_time(method) - processor_before;
		free(parameter);
	}
	printf("%s,%d,%d,%d,%.2f,%.2f,%ld,%d\n", method->name, size, round, batches,
		   processor / batches, clock / batches,
		   read_status(method, "VmHWM") - read_status(method, "RssShmem") - before,
		   PQbackendPID(method->connection));
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	int			batches;
	int			rounds;

	if (argc < 6)
		fail("usage", "client METHODS TABLE_ROWS BATCH_SIZE BATCHES ROUNDS [SEED [NAME]]");
	table_rows = atoi(argv[2]);
	size = atoi(argv[3]);
	read_methods(argv[1], argc > 7 ? argv[7] : NULL);
	batches = atoi(argv[4]);
	rounds = atoi(argv[5]);
	srand48(argc > 6 ? atol(argv[6]) : 1);

	keys = malloc(sizeof(int) * table_rows);
	for (int i = 0; i < table_rows; i++)
		keys[i] = i + 1;
	for (int i = 0; i < nmethods; i++)
		prepare(&methods[i]);
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < nmethods; i++)
			measure(&methods[(round + i) % nmethods], round, batches);
	for (int i = 0; i < nmethods; i++)
		PQfinish(methods[i].connection);
	return 0;
}
