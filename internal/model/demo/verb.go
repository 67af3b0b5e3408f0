package demo

import (
	"strconv"
	"strings"
	"time"
)

func list(arg string) step {
	// "list", "list files", "list the files in DIR", "list DIR"
	dir := arg
	if _, after, ok := cutWord(" "+arg, "in"); ok {
		dir = after
	} else {
		switch strings.ToLower(strings.TrimPrefix(strings.TrimSuffix(arg, "."), "the ")) {
		case "", "files", "directory", "folder", "all files":
			dir = "."
		}
	}
	dir = unquote(dir)
	return call("I list "+orElse(strings.TrimPrefix(dir, "."), "the files here")+".", "list_dir", object{"path": dir})
}

func read(arg string) (step, bool) {
	path, line, _ := cutWord(arg, "line")
	path = unquote(strings.TrimPrefix(path, "file "))
	input := object{"path": path}
	if n, err := strconv.Atoi(line); err == nil && n > 0 {
		input["line"] = n
	}
	return call("I read "+path+".", "file_read", input), path != ""
}

func search(arg string) (step, bool) {
	text, dir, inDir := cutWord(arg, "in")
	text = unquote(strings.TrimPrefix(text, "for "))
	input := object{"pattern": text}
	if inDir {
		input["path"] = unquote(dir)
	}
	return call("I search for "+text+".", "content_search", input), text != ""
}

func find(arg string) (step, bool) {
	pattern := unquote(strings.TrimPrefix(arg, "files "))
	return call("I look for files named "+pattern+".", "glob_search", object{"pattern": pattern}), pattern != ""
}

func run(arg string) (step, bool) {
	command := unquote(arg)
	return call("I run a command.", "shell", object{"command": command}), command != ""
}

// write takes "FILE: CONTENT", "FILE with CONTENT" and "CONTENT to FILE".
func write(arg string) (step, bool) {
	arg = strings.TrimPrefix(arg, "file ")
	path, content, ok := strings.Cut(arg, ": ")
	if !ok || strings.ContainsAny(path, "\"' ") {
		if path, content, ok = cutWord(arg, "with"); !ok {
			content, path, ok = cutWord(arg, "to")
		}
	}
	path, content = unquote(path), unquote(content)
	if !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	return call("I write "+path+".", "file_write", object{"path": path, "content": content}), ok && path != ""
}

// edit takes "FILE: replace OLD with NEW".
func edit(arg string) (step, bool) {
	path, rest, ok := strings.Cut(arg, ": ")
	word, rest := firstWord(rest)
	old, text, with := cutWord(rest, "with")
	if !ok || !with || verbOf(word) != "replace" {
		return step{}, false
	}
	return editing(path, old, text)
}

// replace takes "OLD with NEW in FILE".
func replace(arg string) (step, bool) {
	i := strings.LastIndex(arg, " in ")
	if i < 0 {
		return step{}, false
	}
	old, text, ok := cutWord(arg[:i], "with")
	if !ok {
		return step{}, false
	}
	return editing(arg[i+len(" in "):], old, text)
}

func editing(path, old, text string) (step, bool) {
	path, old, text = unquote(path), unquote(old), unquote(text)
	return call("I edit "+path+".", "file_edit", object{"path": path, "old_text": old, "new_text": text}), path != "" && old != ""
}

// ask takes "QUESTION" and "QUESTION: CHOICE, CHOICE".
func ask(arg string) (step, bool) {
	question, choices, ok := strings.Cut(strings.TrimPrefix(arg, "me "), ": ")
	input := object{"question": unquote(question)}
	if ok {
		input["choices"] = parts(choices)
	}
	return call("I have a question.", "ask_user", input), question != ""
}

func plan(arg string) (step, bool) {
	var entries []any
	for i, p := range parts(arg) {
		status := "pending"
		if i == 0 {
			status = "in_progress"
		}
		entries = append(entries, object{"content": p, "priority": "medium", "status": status})
	}
	return call("I make a plan.", "todo", object{"entries": entries}), len(entries) > 0
}

// parts splits a list at commas.
func parts(s string) []string {
	var ps []string
	for _, p := range strings.Split(s, ",") {
		if p = unquote(p); p != "" {
			ps = append(ps, p)
		}
	}
	return ps
}

// wait takes a number of seconds.
func wait(arg string) step {
	word, _ := firstWord(arg)
	seconds, err := strconv.ParseFloat(strings.TrimSuffix(word, "s"), 64)
	if err != nil || !(seconds > 0) {
		seconds = 3
	}
	return step{wait: time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second))}
}
