// Package report tells a Fairlead server what this process makes of its events, so that
// `fairlead trace` shows their lives across processes: when informers read, decoded and
// stored them, what controllers did because of them and wrote.
//
// It is for who has a client with a Log, and needs one line:
//
//	c, err := client.New(config, client.Options{Trace: report.Log()})
//	go report.Run(ctx, c, "mirror")
//
// controller.ManagerOptions.Report does both.
//
// Nothing waits for it. What is to be told is in the Log's rings, which are bounded, and
// goes in batches, a tenth of a second after it happened; what a server that is slow or away
// does not take in time is lost. A server that is another one, or that does not let this
// user report, is asked once and never again, and the Log is muted.
//
// Who reports needs the verb post, and who reads the verb get, of the non-resource path
// /debug/lives.
//
// # Concurrency
//
// Run is one goroutine, of the caller, with one request under way at a time.
package report
