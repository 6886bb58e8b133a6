// Package instance keeps the control planes of a user: the data directory of each, the record of its last start, and
// whether its process runs.
//
// # Files
//
// An Instance is a data directory. One with a name has it in the user's state directory, instances/NAME. One without a name
// has it anywhere; a file in the folder directories of the state directory has its path, so that List finds it. The folder
// saves has files of whole clusters.
//
//	Linux and others   $XDG_STATE_HOME/fairlead, else ~/.local/state/fairlead
//	macOS              $XDG_STATE_HOME/fairlead, else ~/Library/Application Support/fairlead
//	Windows            $XDG_STATE_HOME\fairlead, else %LocalAppData%\fairlead
//
// The folder instance of a data directory has the files of this package:
//
//	record.json   the Record of the last start
//	lock          locked by the process that has the instance, as long as it lives
//	control.sock  the socket of that process
//	socket        the path of that socket, if the first one's is too long for a socket
//	log           the output of a process in the background
//
// # Whether an instance runs
//
// A process locks its instance, and answers at its socket, until it ends, however it ends: the system removes both the
// lock and the listener of a killed process. Process IDs, which the system uses again, have no influence.
//
// # Concurrency
//
// All functions are for any goroutine and any process: a Record is replaced as a whole, and changes of an instance's
// directory are made by the process that has the lock.
package instance
