// Package top is the terminal view of a running API server: the problems, the objects of any kind, one object with its
// explanation, YAML, Events and logs, and the events of the trace as they happen.
//
// Run draws on a terminal until the user quits or its context ends, and leaves the terminal as it was. All requests are made
// as the client's user. The only ones that write are the deletions that the user confirms.
//
// # Structure
//
// A Model is a state machine: Update takes a key, a size, the time or an answer of the server, and returns the next requests
// as commands; View draws the state. It does no I/O itself, so a test needs no server and no terminal. The views are screens
// on a stack: Esc returns to the one below. Memory is bounded by the rows of one kind, 2,000 events and 5,000 lines of a log;
// only the visible part of them is drawn.
//
// # Concurrency
//
//  1. One goroutine, the program's loop, calls Update and View; a Model has no locks.
//  2. A request runs on a goroutine of its own, and its answer is a message.
//  3. A stream (the watch of a kind, the trace, a log) is read by one goroutine, which ends with the screen that opened it. It
//     delivers batches, ten in a second at most, and reads no further while a batch has not been taken: a fast server costs no memory.
//  4. An answer to a screen that has closed, or to an older question, is dropped.
package top
