# The whole build. `make help` lists what can be asked for.
#
# Sources are found by folder: a new file in src/cmd or below src/runtime is built
# without an edit here. Two flag sets: the tool's, and the runtime's, which is
# linked into other people's programs.

CC ?= cc
PREFIX ?= /usr/local
B := build
# ASan builds live beside the plain ones in a tree of the same shape. The runtime
# is never built with ASan: it runs inside the target, not inside the tool.
T := $(B)$(if $(ASAN),/asan)

comma := ,
is_clang := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
WARN := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes
COMMON := -std=c11 -D_GNU_SOURCE -Isrc -Iinclude -MMD -MP $(WARN)
SAN := $(if $(ASAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer)
TOOL_CFLAGS = $(COMMON) $(TOOL_O) -g $(SAN) $(CFLAGS)
TOOL_O := -O2
FAST_O := $(if $(ASAN),-O2,-O3)
TOOL_LIBS := -ldw -lelf -lzstd -ljansson -lsqlite3
RT_CFLAGS := $(COMMON) -O2 -g -fPIE -fvisibility=hidden -ftls-model=local-exec -fexceptions \
	-fno-stack-protector -mno-red-zone -fno-omit-frame-pointer -U_FORTIFY_SOURCE -fno-builtin \
	-fno-plt \
	$(if $(is_clang),-Wno-unused-command-line-argument,-fno-tree-loop-distribute-patterns)

# $(call files,FOLDERS,ENDING): the files of these folders of src/ and of the rooms in them.
files = $(foreach d,$(1),$(wildcard src/$(d)/*.$(2) src/$(d)/*/*.$(2) src/$(d)/*/*/*.$(2)))
LIB_DIRS := base trace symbol sched coverage analyze learn explore report
lib_src := $(call files,$(LIB_DIRS),c)
wrap_main := src/wrap/snarl_cc.c
rewrite_src := $(filter-out $(wrap_main) src/wrap/as.c,$(call files,wrap,c))
tool_src := src/main.c $(call files,cmd,c)
layout_src := src/runtime/hooks/layout_asm.c
rt_src := $(filter-out $(layout_src),$(call files,runtime,c)) $(call files,runtime,S) \
	$(call files,sched coverage/fold,c)
unit_src := $(wildcard tests/unit/*/*_test.c)
$(if $(filter $(words $(unit_src)),$(words $(sort $(notdir $(unit_src))))),, \
	$(error two unit tests have the same name))
unit_rooms := $(patsubst tests/unit/%/,%,$(sort $(dir $(unit_src))))
tools_src := $(wildcard tests/tools/*.c)

obj = $(patsubst src/%,$(T)/obj/%.o,$(1))
lib_obj := $(call obj,$(lib_src) $(rewrite_src))
tool_obj := $(call obj,$(tool_src))
# The labels of core/bounds.h must be first and last.
bounds_first := src/runtime/core/bounds_begin_x86_64.S
bounds_last := src/runtime/core/bounds_end_x86_64.S
rt_ordered := $(bounds_first) $(filter-out $(bounds_first) $(bounds_last),$(rt_src)) $(bounds_last)
rt_obj := $(patsubst src/%,$(B)/rt/%.o,$(rt_ordered))
rts_obj := $(patsubst src/%,$(B)/rts/%.o,$(rt_ordered))
unit_bin := $(unit_rooms:%=$(T)/tests/unit/%_tests)
no_leaks := $(if $(ASAN),tests/asan/no_leaks.c)
# $(call unit_files,ROOM): the test files of the room; unit_obj: their objects; unit_table: the text
# of the table that lists them (tests/unit/main.c).
unit_files = $(filter tests/unit/$(1)/%,$(unit_src))
unit_obj = $(patsubst tests/unit/%.c,$(T)/tests/unit/%.o,$(call unit_files,$(1)))
unit_table = $(patsubst %.c,TEST(%),$(notdir $(call unit_files,$(1))))
tools_bin := $(patsubst tests/tools/%.c,$(B)/tests/tools/%,$(tools_src))

# What the compiler links programs with; the ASan tree has copies.
support := lib/libsnarlrt.a lib/libsnarlrt-static.a lib/snarl-exports.txt lib/snarl-wraps.txt \
	lib/snarl-gcc.specs lib/snarl-gdb.py include/snarl.h share/snarl-toolchain.cmake \
	share/seccomp.json

# What is only installed: man pages from docs/, completions from --help, files for other
# build systems. A page of a command begins with its name.
VERSION := $(shell sed -n 's/^\#define VERSION "\(.*\)"/\1/p' src/base/version.h)
cmd_docs := $(shell grep -l '^\# snarl' docs/*.md)
man := $(patsubst docs/%.md,man1/snarl-%.1,$(filter-out docs/snarl.md,$(cmd_docs))) man1/snarl.1 \
	man5/snarl-schedule.5 man5/snarl-trace.5 man7/snarl-strategies.7 \
	man7/snarl-suppressions.7 man7/snarl-ci.7 man7/snarl-production.7
extras := $(addprefix share/man/,$(man)) share/completions/snarl.bash share/completions/_snarl \
	share/completions/snarl.fish share/SnarlConfigVersion.cmake

.DELETE_ON_ERROR:
.PHONY: all extras check-deb help demo check check-long check-asan bench bench-strategies \
	bench-hunt bench-coverage bench-guard bench-memo fuzz symbols install install-built clean \
	deps unit tools

all: $(T)/bin/snarl $(T)/bin/snarl-cc $(T)/bin/snarl-c++ $(T)/libexec/as \
	$(addprefix $(T)/,$(support)) $(if $(ASAN),,extras)

extras: $(addprefix $(B)/,$(extras))

help:
	@echo 'make            build/bin/snarl, snarl-cc, snarl-c++ and the runtime'
	@echo 'make demo       build, compile an example with snarl-cc, record it, show the trace'
	@echo 'make check      all tests, of the long ones a slice; tests/run NAME for one'
	@echo 'make unit tools what tests/run needs besides make; a unit test is in '\
	'build/tests/unit/ROOM_tests'
	@echo 'make check-long all tests with all of their seeds and programs'
	@echo 'make check-deb  a Debian package of it, built and tried'
	@echo 'make check-asan the tool and its tests under ASan and UBSan'
	@echo 'make bench      overhead, production builds, control mode, analyses; QUICK=1 '\
	'for one round and short traces'
	@echo 'make bench-hunt  runs that snarl hunt needs for each example; SEEDS=20 MOST=50 '\
	'WRITE='
	@echo 'make bench-guard  how often the examples fail with and without a guard; '\
	'RUNS=2000 QUICK= WRITE='
	@echo 'make bench-coverage  interleavings that each strategy covers; RUNS=300 '\
	'SECONDS_EACH=1 WRITE='
	@echo 'make bench-memo  runs that each further input of a program needs; INPUTS=10 WRITE='
	@echo 'make bench-strategies  runs each strategy needs for each example; SEEDS=20 '\
	'CAP=10000 WRITE='
	@echo 'make fuzz       a minute of fuzzing of all readers of untrusted input'
	@echo 'make symbols    write docs/symbols.txt anew'
	@echo 'make install    PREFIX=/usr/local DESTDIR='
	@echo 'make clean'

deps:
	@scripts/deps

# $(call remember,FILE,TEXT): FILE changes only when TEXT does. What depends on it
# is made again after another compiler, other flags, or a source file's removal.
remember = $(if $(call same,$(strip $(2)),$(shell cat $(1) 2>/dev/null)),, \
	$(shell mkdir -p $(dir $(1)))$(file >$(1),$(strip $(2))))
same = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))
ifneq ($(filter-out clean help deps install-built,$(or $(MAKECMDGOALS),all)),)
$(call remember,$(T)/flags.tool,$(CC) $(TOOL_CFLAGS) $(FAST_O) $(LDFLAGS))
$(call remember,$(B)/flags.rt,$(CC) $(RT_CFLAGS))
$(call remember,$(T)/sources.tool,$(lib_src) $(rewrite_src) $(tool_src))
$(call remember,$(B)/sources.rt,$(rt_src))
$(foreach r,$(unit_rooms),$(call remember,$(T)/tests/unit/$(r)/tests.def,$(call unit_table,$(r))))
endif

$(T)/obj/%.c.o: src/%.c $(T)/flags.tool
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) -c $< -o $@

# Traces are long: what each of their events goes through.
fast_src := $(call files,analyze,c) $(filter %/reader.c %/scan.c %/stream.c,$(call files,trace,c))
$(call obj,$(fast_src)): TOOL_O := $(FAST_O)

$(B)/rt/%.c.o: src/%.c $(B)/flags.rt
	@mkdir -p $(@D)
	$(CC) $(RT_CFLAGS) -c $< -o $@

# The numbers that assembly needs of C (src/runtime/hooks/layout_asm.c).
layout_asm := $(B)/rt/layout_asm.h
$(layout_asm): $(layout_src) $(B)/flags.rt
	@mkdir -p $(@D)
	$(CC) $(RT_CFLAGS) -g0 -MT $@ -MF $(@:.h=.d) -S $< -o $(@:.h=.s)
	sed -n 's/.*"->\([A-Z0-9_]*\) $$\(-*[0-9]*\)".*/#define \1 \2/p' $(@:.h=.s) >$@

$(B)/rt/%.S.o: src/%.S $(layout_asm) $(B)/flags.rt
	@mkdir -p $(@D)
	$(CC) $(RT_CFLAGS) -I$(dir $(layout_asm)) -c $< -o $@

$(B)/rts/%.c.o: src/%.c $(B)/flags.rt
	@mkdir -p $(@D)
	$(CC) $(RT_CFLAGS) -DSNARLRT_STATIC -c $< -o $@

# Its caller's vector registers are in use. With frame pointers where the runtime follows them.
framed_general_regs := $(foreach f,spin_proof program_state,$(filter %/$(f).c,$(rt_src)))
$(patsubst src/%,$(B)/rt/%.o,$(framed_general_regs)) \
$(patsubst src/%,$(B)/rts/%.o,$(framed_general_regs)): \
	RT_CFLAGS += -mgeneral-regs-only
general_regs := $(foreach f,loop loop_nest shadow allocation_sites,$(filter %/$(f).c,$(rt_src)))
$(patsubst src/%,$(B)/rt/%.o,$(general_regs)) $(patsubst src/%,$(B)/rts/%.o,$(general_regs)): \
	RT_CFLAGS += -mgeneral-regs-only -fomit-frame-pointer

# -g0: GNU ld 2.40 crashes on a --wrap whose __wrap_ symbol only debug information names.
$(B)/rts/%.S.o: src/%.S $(layout_asm) $(B)/flags.rt
	@mkdir -p $(@D)
	$(CC) $(RT_CFLAGS) -g0 -DSNARLRT_STATIC -I$(dir $(layout_asm)) -c $< -o $@

$(T)/lib/libsnarl.a: $(lib_obj) $(T)/sources.tool
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $(lib_obj)

$(T)/bin/snarl: $(tool_obj) $(T)/lib/libsnarl.a
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) $(LDFLAGS) $^ $(TOOL_LIBS) -o $@

$(T)/bin/snarl-cc: $(call obj,$(wrap_main)) $(T)/lib/libsnarl.a $(no_leaks)
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) $(LDFLAGS) $^ -o $@

$(T)/bin/snarl-c++: $(T)/bin/snarl-cc
	ln -sf snarl-cc $@

# Named as, because the compilers look for exactly that under their -B folder.
$(T)/libexec/as: $(call obj,src/wrap/as.c) $(T)/lib/libsnarl.a $(no_leaks)
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) $(LDFLAGS) $^ -o $@

# One object with only the entry points left global (tests compare with docs/symbols.txt).
# Without its section groups: a hidden symbol in one, made local here, would be missing
# in a program whose own copy of the group the linker drops in favour of ours.
# snarlrt_own_NAME is a second name of the interposer NAME (runtime/interpose/dlopen.c).
$(B)/rt/snarlrt.o: $(rt_obj) $(B)/sources.rt src/runtime/core/reals.def
	sed -n 's/^REAL_\(DYNAMIC_\)\?FN(\([A-Za-z0-9_]*\).*/--defsym=snarlrt_own_\2=\2/p' \
		src/runtime/core/reals.def > $@.own
	ld -r --force-group-allocation -o $@.tmp @$@.own $(rt_obj)
	objcopy --localize-hidden $@.tmp $@ && rm -f $@.tmp

# For -static: the linker's --wrap takes the place of symbol interposition.
$(B)/rts/snarlrt.o: $(rts_obj) $(B)/lib/snarl-wraps.txt $(B)/sources.rt
	ld -r --force-group-allocation -o $@.tmp $(rts_obj)
	sed 's/.*=\(.*\)/\1 __wrap_\1/' $(B)/lib/snarl-wraps.txt > $@.syms
	objcopy --localize-hidden --redefine-syms=$@.syms $@.tmp $@ && rm -f $@.tmp

$(B)/lib/libsnarlrt.a: $(B)/rt/snarlrt.o
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $<

$(B)/lib/libsnarlrt-static.a: $(B)/rts/snarlrt.o
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $<

# What the executable exports for instrumented shared libraries.
$(B)/lib/snarl-exports.txt: $(B)/rt/snarlrt.o
	@mkdir -p $(@D)
	nm -g --defined-only $< | \
		awk 'BEGIN { print "{" } { print $$3 ";" } END { print "};" }' > $@

$(B)/lib/snarl-wraps.txt: src/runtime/core/reals.def
	@mkdir -p $(@D)
	sed -n 's/^REAL_FN(\([A-Za-z0-9_]*\).*/--wrap=\1/p' $< > $@

$(B)/lib/snarl-gcc.specs: src/wrap/snarl-gcc.specs
	@mkdir -p $(@D)
	cp $< $@

$(B)/lib/snarl-gdb.py: src/cmd/replay/snarl-gdb.py
	@mkdir -p $(@D)
	cp $< $@

$(B)/include/snarl.h: include/snarl.h
	@mkdir -p $(@D)
	cp $< $@

$(B)/share/snarl-toolchain.cmake: src/wrap/snarl-toolchain.cmake
	@mkdir -p $(@D)
	cp $< $@

$(B)/share/seccomp.json: src/cmd/doctor/seccomp.json
	@mkdir -p $(@D)
	cp $< $@

# $(call man_rule,PAGE OF docs/,NAME,SECTION)
define man_rule
$(B)/share/man/man$(3)/$(2).$(3): docs/$(1).md scripts/man src/base/version.h
	@mkdir -p $$(@D)
	scripts/man $(2) $(3) $(VERSION) <$$< >$$@
endef
$(foreach p,$(filter-out snarl,$(patsubst docs/%.md,%,$(cmd_docs))), \
	$(eval $(call man_rule,$(p),snarl-$(p),1)))
$(eval $(call man_rule,snarl,snarl,1))
$(eval $(call man_rule,schedule-format,snarl-schedule,5))
$(eval $(call man_rule,trace-format,snarl-trace,5))
$(eval $(call man_rule,strategies,snarl-strategies,7))
$(eval $(call man_rule,suppressions,snarl-suppressions,7))
$(eval $(call man_rule,ci,snarl-ci,7))
$(eval $(call man_rule,production,snarl-production,7))

$(B)/share/completions/%: $(B)/bin/snarl scripts/completions
	@mkdir -p $(@D)
	scripts/completions $(if $(filter _snarl,$*),zsh,$(subst .,,$(suffix $*))) $< >$@

$(B)/share/%.cmake: cmake/%.cmake.in src/base/version.h
	@mkdir -p $(@D)
	sed 's|@VERSION@|$(VERSION)|' $< >$@

ifneq ($(T),$(B))
$(addprefix $(T)/,$(support)): $(T)/%: $(B)/%
	@mkdir -p $(@D)
	cp $< $@
endif

# One program holds the test files of a room. tests/unit/main.c runs them; tests.def lists them.
$(T)/tests/unit/%_test.o: tests/unit/%_test.c tests/unit/entry.h $(T)/flags.tool
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) -Itests -Itests/unit -include tests/unit/entry.h \
		-DUNIT_TEST=$(*F)_test -c $< -o $@

$(T)/tests/unit/%/main.o: tests/unit/main.c $(T)/tests/unit/%/tests.def $(T)/flags.tool
	$(CC) $(TOOL_CFLAGS) -DTEST_TABLE='"$(T)/tests/unit/$*/tests.def"' -I. -c $< -o $@

# $(call unit_program,ROOM)
define unit_program
$(T)/tests/unit/$(1)_tests: $$(call unit_obj,$(1)) $(T)/tests/unit/$(1)/main.o $(T)/lib/libsnarl.a
	$$(CC) $$(TOOL_CFLAGS) $$(LDFLAGS) $$^ $$(TOOL_LIBS) -lcmocka -o $$@
endef
$(foreach r,$(unit_rooms),$(eval $(call unit_program,$(r))))

unit: $(unit_bin)

# Helpers of the tests, never sanitised: they judge, they are not judged.
$(B)/tests/tools/%: tests/tools/%.c $(B)/lib/libsnarl.a $(B)/flags.tool
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) $(LDFLAGS) $< $(B)/lib/libsnarl.a $(TOOL_LIBS) -o $@

tools: $(tools_bin)

demo: deps
	@$(MAKE) --no-print-directory all
	@scripts/demo

check: deps
	@$(MAKE) --no-print-directory all unit tools
	@tests/run

check-long: deps
	@$(MAKE) --no-print-directory all unit tools
	@LONG=1 tests/run

check-asan: deps
	@$(MAKE) --no-print-directory all tools
	@$(MAKE) --no-print-directory ASAN=1 all unit
	@tests/run --asan

check-deb: deps
	@tests/deb/run

bench: deps
	@$(MAKE) --no-print-directory all
	@tests/bench/run
	@tests/bench/production
	@tests/bench/check
	@tests/bench/control
	@tests/bench/profile
	@tests/bench/analyze

bench-hunt: deps
	@$(MAKE) --no-print-directory all
	@tests/bench/hunt

bench-guard: deps
	@$(MAKE) --no-print-directory all
	@tests/bench/guard

bench-coverage: deps
	@$(MAKE) --no-print-directory all tools
	@tests/bench/coverage

bench-memo: deps
	@$(MAKE) --no-print-directory all
	@tests/bench/memo

bench-strategies: deps
	@$(MAKE) --no-print-directory all
	@tests/bench/strategies

fuzz: deps
	@$(MAKE) --no-print-directory all
	@tests/fuzz/run

symbols: $(B)/rt/snarlrt.o
	nm -g --defined-only $< | awk '{ print $$3 }' | LC_ALL=C sort > docs/symbols.txt

# PREFIX is written into the pkg-config file; all else finds its files from where it is.
dest := $(DESTDIR)$(PREFIX)
install: all
	@$(MAKE) --no-print-directory install-built

# Without a look at what has to be built: with other flags than before that would be all.
install-built:
	install -d "$(dest)/bin" "$(dest)/lib/snarl/libexec" "$(dest)/lib/snarl/include" \
		"$(dest)/include" \
		"$(dest)/share/snarl" "$(dest)/share/pkgconfig" \
		"$(dest)/share/cmake/Snarl" "$(dest)/share/meson/native" \
		"$(dest)/share/man/man1" "$(dest)/share/man/man5" "$(dest)/share/man/man7" \
		"$(dest)/share/doc/snarl/examples" \
		"$(dest)/share/doc/snarl/internals" "$(dest)/share/doc/snarl/measurements" \
		"$(dest)/share/doc/snarl/images" \
		"$(dest)/share/bash-completion/completions" "$(dest)/share/zsh/site-functions" \
		"$(dest)/share/fish/vendor_completions.d"
	install -m755 $(B)/bin/snarl $(B)/bin/snarl-cc "$(dest)/bin"
	ln -sf snarl-cc "$(dest)/bin/snarl-c++"
	install -m755 $(B)/libexec/as "$(dest)/lib/snarl/libexec"
	install -m644 $(addprefix $(B)/,$(filter lib/%,$(support))) "$(dest)/lib/snarl"
	install -m644 include/snarl.h "$(dest)/include"
	install -m644 include/snarl.h "$(dest)/lib/snarl/include"
	install -m644 $(B)/share/snarl-toolchain.cmake $(B)/share/seccomp.json \
		"$(dest)/share/snarl"
	install -m644 cmake/SnarlConfig.cmake $(B)/share/SnarlConfigVersion.cmake \
		"$(dest)/share/cmake/Snarl"
	install -m644 meson/snarl.ini "$(dest)/share/meson/native/snarl"
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' include/snarl.pc.in \
		>"$(dest)/share/pkgconfig/snarl.pc"
	chmod 644 "$(dest)/share/pkgconfig/snarl.pc"
	for page in $(man); do \
		install -m644 $(B)/share/man/$$page "$(dest)/share/man/$$page" || exit 1; \
	done
	ln -sf snarl-cc.1 "$(dest)/share/man/man1/snarl-c++.1"
	install -m644 $(B)/share/completions/snarl.bash \
		"$(dest)/share/bash-completion/completions/snarl"
	install -m644 $(B)/share/completions/_snarl "$(dest)/share/zsh/site-functions"
	install -m644 $(B)/share/completions/snarl.fish "$(dest)/share/fish/vendor_completions.d"
	install -m644 README.md docs/*.md docs/symbols.txt "$(dest)/share/doc/snarl"
	for part in internals measurements images; do \
		install -m644 docs/$$part/* "$(dest)/share/doc/snarl/$$part" || exit 1; \
	done
	install -m644 examples/* "$(dest)/share/doc/snarl/examples"

clean:
	rm -rf $(B)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
