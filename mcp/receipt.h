/*
 * mcp/receipt.h - the place of a stored run's outcome in the log, from the
 * record beside its results (docs/audit-log.md).
 */
#ifndef MCP_RECEIPT_H
#define MCP_RECEIPT_H

#include "base/scan.h"
#include "mcp/facts.h"
#include "mcp/page.h"

/*
 * 'text' is a record.dsse.json; 'room' lends its nodes.  If it holds the
 * outcome of the run that f->run_id names, f->audit becomes that one's number
 * and leaf; else 'f' stays as it is.  No signature is checked: the folder is
 * the service's own, and whoever asks can check the leaf in the log.
 */
void receipt_recall(
    const struct page *text, const struct scan *room, struct facts *f);

#endif
