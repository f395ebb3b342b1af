/*
 * audit/store_log.h - names that the files of audit/store share.  Private to
 * them and to what reads the log at a start.
 */
#ifndef AUDIT_STORE_LOG_H
#define AUDIT_STORE_LOG_H

#define STORE_LOG_NAME "000000.jsonl"

#endif
