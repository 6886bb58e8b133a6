package call

import "time"

// Wait adds to the time for which the call was in a queue, or waited for webhooks, and which is not the server's own. It
// belongs to the goroutine that serves the call.
func (c *Call) Wait(d time.Duration) { c.waited += d }

// Waited returns that time.
func (c *Call) Waited() time.Duration { return c.waited }
