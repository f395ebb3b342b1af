# Every flag, each with its reason.  Nothing is probed and skipped: a flag the
# compiler does not know stops the build, since a protection that vanishes
# quietly is the build-system form of a silent fallback.  Tried with GCC 12.2
# and Clang 14.0.6, glibc 2.36, binutils 2.40.

if(NOT CMAKE_C_COMPILER_ID MATCHES "^(GNU|Clang)$")
  message(FATAL_ERROR "only GCC and Clang are supported, this is "
    "${CMAKE_C_COMPILER_ID}; set CC=gcc or CC=clang-14")
endif()

set(BAILIFF_WARNINGS
  -Wall -Wextra -Wpedantic -Werror
  -Wshadow                     # a name means one thing
  -Wconversion -Wsign-conversion # every narrowing is written down
  -Wdouble-promotion
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -Wmissing-declarations -Wredundant-decls -Wnested-externs
  -Wundef -Wpointer-arith -Wcast-qual -Wbad-function-cast -Wwrite-strings
  -Wformat=2 -Wformat-security # formats are literals
  -Wnull-dereference -Winit-self
  -Wdate-time                  # builds are reproducible
  -Wswitch-enum                # a new enumerator breaks every switch
  -Wimplicit-fallthrough -Wvla -Walloca -Wunused-macros
  -Wframe-larger-than=8192     # big buffers belong to structs, not stacks
  -Werror=implicit -Werror=incompatible-pointer-types
  -Werror=int-conversion -Werror=return-type)

if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND BAILIFF_WARNINGS
    -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init
    -Wtrampolines -Warith-conversion -Wcast-align=strict -Wformat-signedness
    -Wformat-overflow=2 -Wformat-truncation=1 -Wstringop-overflow=4
    -Warray-bounds=2 -Wshift-overflow=2 -Wuse-after-free=3
    -Wdangling-pointer=2 -Wbidi-chars=any
    -Wsuggest-attribute=noreturn -Wsuggest-attribute=format)
else()
  list(APPEND BAILIFF_WARNINGS
    -Wcast-align -Wcomma -Wassign-enum -Wloop-analysis
    -Wunreachable-code-aggressive -Wconditional-uninitialized
    -Wmissing-variable-declarations -Wbitwise-instead-of-logical
    -Wextra-semi-stmt -Wheader-hygiene)
endif()

set(BAILIFF_CODE
  -D_GNU_SOURCE
  -g
  -fno-common
  -fvisibility=hidden
  -fno-delete-null-pointer-checks # a null check stays a check
  -fno-strict-overflow            # signed overflow wraps, is no licence
  -fno-strict-aliasing
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.) # no build path in a binary

if(BAILIFF_FLAVOUR STREQUAL "hardened")
  list(APPEND BAILIFF_CODE
    -O2
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 # checked copies, run-time sizes too
    -fstack-protector-strong
    -fstack-clash-protection              # no jump over the guard page
    -fno-plt)                             # with -z now: no writable jump slot
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    list(APPEND BAILIFF_CODE -fcf-protection=full)
  else()
    list(APPEND BAILIFF_CODE -mbranch-protection=standard)
  endif()
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND BAILIFF_CODE
      -ftrivial-auto-var-init=zero       # no stale stack in a message
      -fzero-call-used-regs=used-gpr)
  else()
    # Clang 14 takes "zero" only with a second, deprecated switch.
    list(APPEND BAILIFF_CODE -ftrivial-auto-var-init=pattern)
  endif()
elseif(BAILIFF_FLAVOUR STREQUAL "sanitized")
  # Sanitizers and sandboxes do not mix: this flavour builds the unit tests of
  # the pure parts and the fuzz replay, never a program that confines.
  list(APPEND BAILIFF_CODE -O1 -fno-omit-frame-pointer
    -fno-sanitize-recover=all -fsanitize=address,undefined)
  add_link_options(-fsanitize=address,undefined)
  if(BAILIFF_FUZZ)
    # Coverage for libFuzzer in every file; its main only in the harnesses.
    list(APPEND BAILIFF_CODE -fsanitize=fuzzer-no-link)
    add_link_options(-fsanitize=fuzzer-no-link)
  endif()
  # The instrumentation itself trips these.
  list(REMOVE_ITEM BAILIFF_WARNINGS -Wnull-dereference
    -Wframe-larger-than=8192 -Wstringop-overflow=4 -Wformat-overflow=2
    -Wformat-truncation=1 -Warray-bounds=2 -Wuse-after-free=3
    -Wdangling-pointer=2)
elseif(BAILIFF_FLAVOUR STREQUAL "coverage")
  list(APPEND BAILIFF_CODE -O1 --coverage)
  add_link_options(--coverage)
else()
  message(FATAL_ERROR "BAILIFF_FLAVOUR is ${BAILIFF_FLAVOUR}; "
    "write hardened, sanitized or coverage")
endif()

add_compile_options(${BAILIFF_WARNINGS} ${BAILIFF_CODE} -fPIE)
add_link_options(-pie
  -Wl,-z,relro -Wl,-z,now        # no writable GOT
  -Wl,-z,noexecstack -Wl,-z,separate-code -Wl,-z,text
  -Wl,--as-needed                # a program links only what it uses
  -Wl,--fatal-warnings)
if(NOT BAILIFF_FLAVOUR STREQUAL "sanitized")
  add_link_options(-Wl,-z,defs)
endif()
