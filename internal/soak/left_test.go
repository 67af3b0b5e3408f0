package soak

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // to look into the store
)

// markName is the variable that our processes and their shims carry.
const markName = "GRAPNEL_SOAK_MARK"

// left lists the processes that carry the run's mark, with their command lines.
// Commands have a scrubbed environment, so theirs is in their words.
func (r *run) left() []string {
	var list []string
	entries, _ := os.ReadDir("/proc") // none where there is no such thing
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline")) // it may have ended
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if bytes.Contains(line, []byte(r.mark)) || bytes.Contains(env, []byte(markName+"="+r.mark)) {
			list = append(list, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return list
}

// alone waits until no process of the run is left.
func (r *run) alone() {
	r.t.Helper()
	var list []string
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if list = r.left(); len(list) == 0 {
			return
		}
	}
	r.t.Errorf("processes are left: %q", list)
}

// sound checks the store from below.
func (r *run) sound() {
	r.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(r.Home, "data", "sessions.db"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		r.t.Errorf("the store is not sound: %s %v", verdict, err)
	}
	if _, err := db.Exec("INSERT INTO docs_index (docs_index) VALUES ('integrity-check')"); err != nil {
		r.t.Errorf("the search index is not sound: %v", err)
	}
	aside, err := filepath.Glob(filepath.Join(r.Home, "data", "*damaged*"))
	if err != nil || len(aside) > 0 {
		r.t.Errorf("a store was moved aside: %v %v", aside, err)
	}
}
