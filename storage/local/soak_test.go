//go:build soak

package local_test

func init() {
	everyStep, openStep, flipStep = 1, 1, 1
	churns = append(churns,
		churn{1, 2 << 10, 16, 100},
		churn{8, 2 << 10, 16, 40},
		churn{8, 300, 4, 10},
		churn{8, 100 << 10, 16, 40},
		churn{24, 4 << 10, 2, 10},
		churn{24, 4 << 10, 64, 10},
	)
}
