package sandbox

import (
	"os"
	"strings"
)

// namespaceFix says what to do where bubblewrap cannot make its namespaces.
func namespaceFix() string { return fixFor(readSetting) }

func readSetting(name string) string {
	data, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// fixFor reads the settings of the kernel that keep users from namespaces.
func fixFor(setting func(name string) string) string {
	switch {
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "allow bwrap user namespaces in AppArmor (a profile with `userns,` for /usr/bin/bwrap), or: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	case setting("kernel/unprivileged_userns_clone") == "0":
		return "allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1"
	case setting("user/max_user_namespaces") == "0":
		return "allow user namespaces: sudo sysctl user.max_user_namespaces=15000"
	}
	return "run `bwrap --ro-bind / / --unshare-all true` to see what is missing; in a container, user namespaces are often refused by its own rules"
}
