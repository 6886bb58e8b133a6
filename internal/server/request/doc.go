// Package request parses a request before any object is looked up: the [Info] in the path,
// the negotiated [ResponseFormat], the options of a verb and the body. It depends neither on
// resources nor on storage.
package request
