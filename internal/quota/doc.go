// Package quota measures the usage of ResourceQuotas by objects, and the total requests of pods. The server's
// admission and the controllers share it, because both must compute the same usage.
//
// All functions are pure, except that a terminating pod stops counting after its grace period, and that device
// claims are measured by other objects, see Others.
package quota
