package audit

import (
	"errors"
	"fmt"
)

// Report is what Verify found.
type Report struct {
	Intact   bool   `json:"intact"`
	Lines    int    `json:"lines"` // good ones
	First    uint64 `json:"first"` // number of the first line there is; 1 unless older files are gone
	Last     uint64 `json:"last"`
	Repaired int    `json:"repaired"` // lines that a crash cut short, and that are accounted for
	Bad      *Bad   `json:"bad,omitzero"`
}

// Bad is the first thing wrong with a log.
type Bad struct {
	File string `json:"file"`
	Line int    `json:"line"` // in the file, from 1; 0 after its end
	Seq  uint64 `json:"seq"`  // the number that was due there
	Why  string `json:"why"`
}

// errBad ends the reading at the first bad line.
var errBad = errors.New("the chain is broken")

// Verify follows the chain of a directory's log. What is wrong with the log is
// in the report; the error is one of reading it.
func Verify(dir string) (Report, error) {
	// Before the lines are read: more may be written meanwhile.
	due := endMark(dir)
	v := verifier{due: due}
	err := Read(dir, v.line)
	if err != nil && !errors.Is(err, errBad) {
		return Report{}, err
	}
	if v.Bad == nil && due.seq > v.Last {
		v.Bad = &Bad{FileName, 0, v.Last + 1, missing(v.Last+1, due.seq) + " at the end"}
	}
	v.Intact = v.Bad == nil
	return v.Report, nil
}

type verifier struct {
	Report
	due  mark
	prev string
}

func (v *verifier) line(l Line) error {
	why := v.wrong(l)
	if why != "" {
		v.Bad = &Bad{l.File, l.Number, v.Last + 1, why}
		return errBad
	}
	if l.Torn {
		v.Repaired++
		return nil
	}
	if v.Lines == 0 {
		v.First = l.Entry.Seq
	}
	v.Lines++
	v.Last, v.prev = l.Entry.Seq, l.Entry.Hash
	return nil
}

// wrong says what is wrong with a line where it stands, "" when nothing is.
func (v *verifier) wrong(l Line) string {
	e := l.Entry
	switch {
	case l.Torn:
		return ""
	case l.Err != nil:
		return l.Err.Error()
	case v.Lines == 0 && e.Seq > 1 && e.Event != Rotated:
		return fmt.Sprintf("the lines before number %d are missing", e.Seq)
	case v.Lines == 0 && e.Seq > 1:
		return "" // older files were put elsewhere
	case v.Lines > 0 && e.Seq > v.Last+1:
		return missing(v.Last+1, e.Seq-1) + " before it"
	case v.Lines > 0 && e.Seq != v.Last+1:
		return fmt.Sprintf("it is number %d, and %d was due", e.Seq, v.Last+1)
	case v.Lines > 0 && e.Prev != v.prev, v.Lines == 0 && e.Prev != origin():
		return "it does not follow the line before it"
	case e.Seq == v.due.seq && e.Hash != v.due.hash:
		return "it is not the line that was written under this number"
	}
	return ""
}

func missing(first, last uint64) string {
	if first == last {
		return fmt.Sprintf("the line numbered %d is missing", first)
	}
	return fmt.Sprintf("the lines numbered %d to %d are missing", first, last)
}
