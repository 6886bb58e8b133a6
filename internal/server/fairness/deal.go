package fairness

import (
	"fmt"
	"math"
)

const (
	// maxHand is the size of the largest hand that hashBits can deal from a deck of its size.
	maxHand = 15
	// hashBits is how many bits of a hash are used. The rest keeps the last cards of a hand nearly uniform.
	hashBits = 60
	maxDeck  = 1 << 26
)

// checkDeal returns why a hand cannot be dealt from a deck of queues.
func checkDeal(deck, hand int) error {
	switch {
	case deck <= 0 || hand <= 0 || hand > deck || deck > maxDeck:
		return fmt.Errorf("%d queues cannot be dealt in hands of %d", deck, hand)
	case math.Ceil(math.Log2(float64(deck))*float64(hand)) > hashBits:
		return fmt.Errorf("hands of %d of %d queues need more than %d bits of a hash", hand, deck, hashBits)
	}
	return nil
}

// deal appends the hand of a flow with the given hash: different numbers below deck, each as likely as the others. The hash
// is read as a number in a mixed radix: its digits, modulo deck, deck-1 and so on, select from the cards that are left.
func deal(hash uint64, deck, hand int, dst []int) []int {
	for i := range hand {
		left := uint64(deck - i)
		card := int(hash % left)
		hash /= left
		at := len(dst) - i // insert into the sorted cards of this hand below; card counts only those that are left
		sorted := dst[at:]
		for k := 0; k < len(sorted) && sorted[k] <= card; k++ {
			card++
		}
		dst = append(dst, card)
		for k := len(dst) - 1; k > at && dst[k-1] > dst[k]; k-- {
			dst[k-1], dst[k] = dst[k], dst[k-1]
		}
	}
	return dst
}
