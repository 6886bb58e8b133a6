// Package report reports this process's handling of events to a Fairlead server, so that
// `fairlead trace` shows their lives across processes: when informers read, decoded and
// stored them, and the controllers' reconciles and writes.
//
// A program whose client has a Log needs one line:
//
//	c, err := client.New(config, client.Options{Trace: report.Log()})
//	go report.Run(ctx, c, "mirror")
//
// controller.ManagerOptions.Report does both.
//
// No other work waits for it. Entries wait in the Log's rings, which are bounded, and are
// sent in batches, a tenth of a second after they were made. Entries that a slow or absent
// server does not take in time are lost. If the server is not Fairlead, or does not let
// this user report, the process stops reporting and the Log is muted.
//
// A sender needs the verb post, and a reader the verb get, on the non-resource path
// /debug/lives.
//
// # Concurrency
//
// Run uses the caller's goroutine, with one request at a time.
package report
