# find_package(Snarl): tests that look for concurrency bugs, run by CTest.
#
#   snarl_add_hunt(<target or program>
#       [NAME <name>]                 of the test; snarl-<target> if not given
#       [ARGUMENTS <argument>...]     of the program
#       [STRATEGY <name>]             snarl test with this strategy in place of snarl hunt
#       [RUNS <n>] [TIME <t>]         how many runs, how long: 30s, 10m
#       [JOBS <n>]                    runs at the same time; 1
#       [BASELINE <results.json>]     only what is not in it is a failure
#       [OPTIONS <option>...]         further options of snarl
#       [LABELS <label>...]           of CTest, beside "snarl"
#       [TIMEOUT <seconds>]           CTest's limit for all runs together
#       [WORKING_DIRECTORY <folder>])
#
# The program must be built by snarl-cc, so this adds tests only in a build that is configured with
#   cmake -DCMAKE_TOOLCHAIN_FILE=.../share/snarl/snarl-toolchain.cmake ...    (or CC=snarl-cc CXX=snarl-c++ cmake ...)
# and nothing in any other: the same CMakeLists.txt serves both. SNARL_BUILD tells which it is.
#
# What is found is under snarl-out/<name> in the current build folder. snarl's exit status
# is CTest's: 0 passed, 77 skipped, all else failed.

get_filename_component(_snarl_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(SNARL_EXECUTABLE snarl HINTS "${_snarl_prefix}/bin")
unset(_snarl_prefix)
if(NOT SNARL_EXECUTABLE)
	set(Snarl_FOUND FALSE)
	set(Snarl_NOT_FOUND_MESSAGE "snarl is not in bin beside ${CMAKE_CURRENT_LIST_DIR}; set SNARL_EXECUTABLE")
	return()
endif()

# Does the compiler of this build define __SNARL__?
set(SNARL_BUILD FALSE)
foreach(_snarl_language C CXX)
	if(CMAKE_${_snarl_language}_COMPILER)
		execute_process(COMMAND "${CMAKE_${_snarl_language}_COMPILER}" -dM -E -x c /dev/null
			OUTPUT_VARIABLE _snarl_macros ERROR_QUIET)
		if(_snarl_macros MATCHES "#define __SNARL__ ")
			set(SNARL_BUILD TRUE)
		endif()
	endif()
endforeach()
unset(_snarl_language)
unset(_snarl_macros)
if(NOT SNARL_BUILD AND NOT Snarl_FIND_QUIETLY)
	message(STATUS "snarl: this build is not instrumented, hunts are left out")
endif()

function(snarl_add_hunt program)
	cmake_parse_arguments(PARSE_ARGV 1 arg ""
		"NAME;STRATEGY;RUNS;TIME;JOBS;BASELINE;TIMEOUT;WORKING_DIRECTORY" "ARGUMENTS;OPTIONS;LABELS")
	if(arg_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "snarl_add_hunt(${program}): what is ${arg_UNPARSED_ARGUMENTS}?")
	endif()
	if(NOT SNARL_BUILD)
		return()
	endif()
	if(NOT arg_NAME)
		get_filename_component(arg_NAME "${program}" NAME)
		set(arg_NAME "snarl-${arg_NAME}")
	endif()
	if(NOT arg_JOBS)
		set(arg_JOBS 1)
	endif()
	if(arg_STRATEGY)
		set(command test --strategy ${arg_STRATEGY})
	else()
		set(command hunt)
	endif()
	list(APPEND command --jobs ${arg_JOBS} --out "${CMAKE_CURRENT_BINARY_DIR}/snarl-out/${arg_NAME}")
	if(arg_RUNS)
		list(APPEND command --runs ${arg_RUNS})
	endif()
	if(arg_TIME)
		list(APPEND command --time ${arg_TIME})
	endif()
	if(arg_BASELINE)
		get_filename_component(arg_BASELINE "${arg_BASELINE}" ABSOLUTE)
		list(APPEND command --baseline "${arg_BASELINE}")
	endif()
	if(TARGET "${program}")
		set(program "$<TARGET_FILE:${program}>")
	endif()
	file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/snarl-out")
	set(place "")
	if(arg_WORKING_DIRECTORY)
		set(place WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}")
	endif()
	add_test(NAME "${arg_NAME}" ${place}
		COMMAND "${SNARL_EXECUTABLE}" ${command} ${arg_OPTIONS} -- "${program}" ${arg_ARGUMENTS})
	set_tests_properties("${arg_NAME}" PROPERTIES LABELS "snarl;${arg_LABELS}"
		SKIP_RETURN_CODE 77 PROCESSORS ${arg_JOBS})
	if(arg_TIMEOUT)
		set_tests_properties("${arg_NAME}" PROPERTIES TIMEOUT ${arg_TIMEOUT})
	endif()
endfunction()
