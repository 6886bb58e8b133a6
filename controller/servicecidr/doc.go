// Package servicecidr keeps the ranges that services get their addresses from: a
// ServiceCIDR is told to be Ready, and stays after its deletion as long as an address is
// in use that no other range has; its condition says so. One that nothing holds goes ten
// seconds after its deletion, when no server takes addresses from it any more.
//
// In use is what a Service has, and what an IPAddress stands for that a server made.
package servicecidr
