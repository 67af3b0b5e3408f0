package ask

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
)

const options = `{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[
	{"optionId":"yes","name":"Allow","kind":"allow_once"},
	{"optionId":"no","name":"No","kind":"reject_once"},
	{"optionId":"edit","name":"Edit","kind":"reject_with_edit"},
	{"optionId":"odd","name":"?","kind":"allowed"}]}`

func permission() *Request {
	return New(session.Request{ID: "e_1", Kind: session.KindPermission, Body: jsontext.Value(options)}, nil)
}

// P5: only an option that was offered, with a kind that allows, allows.
func TestP5OnlyAnOfferedAllowOptionAllows(t *testing.T) {
	tests := []struct {
		name   string
		answer session.Verdict
		want   session.Verdict
	}{
		{"allow", session.Verdict{Outcome: session.Selected, Option: "yes"}, session.Verdict{Outcome: session.Selected, Option: "yes"}},
		{"reject", session.Verdict{Outcome: session.Selected, Option: "no"}, session.Verdict{Outcome: session.Declined, Option: "no"}},
		{"declined", session.Verdict{Outcome: session.Declined}, session.Verdict{Outcome: session.Declined}},
		{"declined with the allow option", session.Verdict{Outcome: session.Declined, Option: "yes"}, session.Verdict{Outcome: session.Withdrawn, Reason: BadAnswer}},
		{"not offered", session.Verdict{Outcome: session.Selected, Option: "allow_everything"}, session.Verdict{Outcome: session.Withdrawn, Reason: BadAnswer}},
		{"unknown kind", session.Verdict{Outcome: session.Selected, Option: "edit"}, session.Verdict{Outcome: session.Withdrawn, Reason: BadAnswer}},
		{"allow-like kind", session.Verdict{Outcome: session.Selected, Option: "odd"}, session.Verdict{Outcome: session.Withdrawn, Reason: BadAnswer}},
		{"accepted is no answer", session.Verdict{Outcome: session.Accepted, Option: "yes"}, session.Verdict{Outcome: session.Withdrawn, Reason: BadAnswer}},
		{"empty", session.Verdict{}, session.Verdict{Outcome: session.Withdrawn, Reason: BadAnswer}},
		{"dismissed", session.Verdict{Outcome: session.Withdrawn, Reason: "cancelled"}, session.Verdict{Outcome: session.Withdrawn, Reason: "cancelled"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, settled := permission().Answer(tt.answer, "a", []string{"a"})
			if !settled {
				t.Fatal("the only approver's answer did not settle the request")
			}
			tt.want.Request, tt.want.By = "e_1", "a"
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestABrokenAnswerLeavesTheOthers(t *testing.T) {
	q := permission()
	both := []string{"a", "b"}
	if _, settled := q.Answer(session.Verdict{}, "a", both); settled {
		t.Fatal("one broken client decided for everybody")
	}
	if _, settled := q.Answer(session.Verdict{Outcome: session.Selected, Option: "yes"}, "a", both); settled {
		t.Fatal("an attachment answered twice")
	}
	v, settled := q.Answer(session.Verdict{Outcome: session.Selected, Option: "yes"}, "b", both)
	if !settled || v.Outcome != session.Selected || v.By != "b" {
		t.Fatalf("got %+v, %v", v, settled)
	}
}

func TestAnswerOfSomebodyNotAbleIsDropped(t *testing.T) {
	if _, settled := permission().Answer(session.Verdict{Outcome: session.Selected, Option: "yes"}, "x", []string{"a"}); settled {
		t.Error("an observer approved")
	}
}

func TestElicitation(t *testing.T) {
	q := New(session.Request{ID: "e_2", Kind: session.KindElicitation}, nil)
	content := jsontext.Value(`{"name":"x"}`)
	v, ok := q.Answer(session.Verdict{Outcome: session.Accepted, Content: content}, "a", []string{"a"})
	if !ok || v.Outcome != session.Accepted || string(v.Content) != string(content) {
		t.Errorf("got %+v, %v", v, ok)
	}
	q = New(session.Request{ID: "e_2", Kind: session.KindElicitation}, nil)
	if v, ok := q.Answer(session.Verdict{Outcome: session.Selected, Option: "yes"}, "a", []string{"a"}); !ok || v.Outcome != session.Withdrawn {
		t.Errorf("a permission's answer settled an elicitation: %+v, %v", v, ok)
	}
}

func TestDeskClosesOnce(t *testing.T) {
	var d Desk
	d.Add(permission())
	if _, ok := d.Close("e_1"); !ok {
		t.Fatal("not open")
	}
	if _, ok := d.Close("e_1"); ok || d.Len() != 0 {
		t.Error("closed twice")
	}
}
