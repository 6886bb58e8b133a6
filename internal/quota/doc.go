// Package quota measures what objects use of ResourceQuotas, and what pods ask for
// as a whole. Server and controllers share it: who admits and who counts again must
// come to the same sum.
//
// Everything here is a pure function of its arguments, but for the time of day by
// which a pod that should be gone stops counting, and for what claims of devices are
// measured by besides, see Others.
package quota
