package serve

import (
	"testing"
	"testing/synctest"
)

func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r room
		done := make(chan struct{})
		r.take(done, 2*roomBytes) // one is always let in
		in := make(chan int, 3)
		for i := range 2 {
			go func() {
				r.take(done, roomBytes/2)
				in <- i
			}()
		}
		synctest.Wait()
		if len(in) != 0 {
			t.Error("more was let in than there is room for")
		}
		r.give(2 * roomBytes)
		synctest.Wait()
		if len(in) != 2 {
			t.Errorf("%d of 2 were let in", len(in))
		}
		go func() {
			r.take(done, roomBytes)
			in <- 2
		}()
		synctest.Wait()
		if len(in) != 2 {
			t.Error("more was let in than there is room for")
		}
		close(done) // the connection is over
		synctest.Wait()
		if len(in) != 3 {
			t.Error("the end of the connection does not end the wait")
		}
		r.give(roomBytes)
		r.give(roomBytes)
		if r.used != 0 {
			t.Errorf("%d bytes are left", r.used)
		}
	})
}
