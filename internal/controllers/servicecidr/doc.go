// Package servicecidr keeps the ranges that services get their addresses from: a
// ServiceCIDR is told to be Ready, and stays after its deletion as long as an address is
// in use that no other range has; its condition says so. One that nothing holds goes ten
// seconds after its deletion, when no server takes addresses from it any more.
//
// In use is an address that has an IPAddress which a server made.
package servicecidr
