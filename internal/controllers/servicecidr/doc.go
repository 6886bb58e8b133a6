// Package servicecidr maintains the ranges of service addresses: it sets the Ready condition of a ServiceCIDR, and
// keeps a deleted one as long as it has an address in use that no other range contains, which the condition
// reports. An unused one is removed ten seconds after its deletion, when no server allocates addresses from it any
// more.
//
// An address is in use if it has an IPAddress created by a server.
package servicecidr
