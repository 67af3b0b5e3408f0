package model_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/model"
)

func withMedia() []model.Message {
	picture := model.Part{Image: &model.Media{MimeType: "image/png", Data: []byte("x")}}
	return []model.Message{
		model.UserText("look"),
		{Role: model.RoleUser, Parts: []model.Part{picture, model.Text("and"), {Audio: &model.Media{MimeType: "audio/wav"}}}},
		{Role: model.RoleUser, Parts: []model.Part{{ToolResult: &model.ToolResult{CallID: "c", Parts: []model.Part{model.Text("t"), picture}}}}},
	}
}

func TestFit(t *testing.T) {
	history := withMedia()
	if got, changed := model.Fit(history, model.Info{Images: true, Audio: true}); changed || &got[0] != &history[0] {
		t.Errorf("a model that takes all: %v, changed %v", got, changed)
	}
	got, changed := model.Fit(history, model.Info{Audio: true})
	want := withMedia()
	want[1].Parts[0] = model.Text("[an image was here, which this model cannot take]")
	want[2].Parts[0].ToolResult.Parts[1] = want[1].Parts[0]
	if diff := cmp.Diff(want, got); diff != "" || !changed {
		t.Errorf("changed %v\n%s", changed, diff)
	}
	if diff := cmp.Diff(withMedia(), history); diff != "" {
		t.Errorf("the caller's messages were changed:\n%s", diff)
	}
}

// TestRepairDropsRefusedMedia: one picture a server does not take must not end
// the session.
func TestRepairDropsRefusedMedia(t *testing.T) {
	for _, tt := range []struct {
		failure  model.Error
		messages []model.Message
		calls    int
	}{
		{model.Error{Kind: model.ErrBadRequest, Message: "unknown variant `image_url`, expected `text`"}, withMedia(), 2},
		{model.Error{Kind: model.ErrServer, Message: "image input is not supported - hint: mmproj"}, withMedia(), 2},
		{model.Error{Kind: model.ErrBadRequest, Message: "audio is not supported"}, withMedia(), 2},
		{model.Error{Kind: model.ErrBadRequest, Message: "unknown variant `image_url`"}, withMedia()[:1], 1},
		{model.Error{Kind: model.ErrBadRequest, Message: "no such model"}, withMedia(), 1},
		{model.Error{Kind: model.ErrRateLimit, Message: "too many images"}, withMedia(), 1},
	} {
		var last *model.Request
		f := &fake{name: "p"}
		f.stream = func(_ context.Context, req *model.Request, _ func(model.Event) error) (*model.Response, error) {
			last = req
			return nil, &tt.failure
		}
		_, _ = model.WithRepair(f).Stream(t.Context(), &model.Request{Messages: tt.messages}, quiet)
		if f.calls != tt.calls {
			t.Errorf("%s: %d calls", tt.failure.Message, f.calls)
		}
		if _, left := model.Fit(last.Messages, model.Info{}); left && f.calls == 2 {
			t.Errorf("%s: sent again with what was refused", tt.failure.Message)
		}
	}
}
