// Package house holds no code: its tests keep the rules that every other
// package lives by, such as package comments and import arrows.
package house
