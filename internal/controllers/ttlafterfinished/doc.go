// Package ttlafterfinished deletes finished Jobs after their spec.ttlSecondsAfterFinished, with their pods (in the
// foreground). The server is asked before a Job is deleted, because its TTL may have been extended.
package ttlafterfinished
