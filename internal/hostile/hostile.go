// Package hostile holds the proof that a hostile model gets no further than its
// user allowed: its tests have a scripted model, on the wire, make the real
// program try to escape, on every rung of the sandbox. Each escape is first
// made without Grapnel, to see that the harm it would do is noticed.
package hostile
