// Package datadir has the files of a data directory beside Pebble's database: the marker
// FAIRLEAD, which names the owner and the format, and the witness FAIRLEAD.rev, which records
// the last acknowledged revision. It also checks the last log file that a crash leaves. The
// formats are described in package storage/local.
package datadir
