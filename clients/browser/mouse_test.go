package browser

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// drag presses the mouse at a place, moves it in steps to another, and releases it there.
func (b *fixture) drag(t *testing.T, x1, y1, x2, y2 float64) {
	t.Helper()
	b.do(t, chromedp.ActionFunc(func(ctx context.Context) error {
		const steps = 12
		mouse := func(what input.MouseType, x, y float64) error {
			return input.DispatchMouseEvent(what, x, y).WithButton(input.Left).WithButtons(1).WithClickCount(1).Do(ctx)
		}
		if err := mouse(input.MousePressed, x1, y1); err != nil {
			return err
		}
		for i := 1; i <= steps; i++ {
			part := float64(i) / steps
			if err := mouse(input.MouseMoved, x1+(x2-x1)*part, y1+(y2-y1)*part); err != nil {
				return err
			}
		}
		return mouse(input.MouseReleased, x2, y2)
	}))
}

// wheel turns the wheel at a place, down for positive values.
func (b *fixture) wheel(t *testing.T, x, y, down float64) {
	t.Helper()
	b.do(t, chromedp.ActionFunc(func(ctx context.Context) error {
		return input.DispatchMouseEvent(input.MouseWheel, x, y).WithDeltaX(0).WithDeltaY(down).Do(ctx)
	}))
}
