// Package request reads what a client asks for, before anything is looked up: the
// [Info] in the path, the negotiated [ResponseFormat], the options of a verb and the body.
// It knows no resource and nothing of storage.
package request
