# CMake: -DCMAKE_TOOLCHAIN_FILE=…/snarl-toolchain.cmake builds a project with snarl-cc
# and snarl-c++. SNARL_CC and SNARL_CXX in the environment choose the compiler behind
# them, at configure and at build time alike.

# Beside the build tree's share folder, or two above the installed share/snarl.
find_program(SNARL_C_COMPILER snarl-cc
	PATHS "${CMAKE_CURRENT_LIST_DIR}/../bin" "${CMAKE_CURRENT_LIST_DIR}/../../bin"
	NO_DEFAULT_PATH)
find_program(SNARL_CXX_COMPILER snarl-c++
	PATHS "${CMAKE_CURRENT_LIST_DIR}/../bin" "${CMAKE_CURRENT_LIST_DIR}/../../bin"
	NO_DEFAULT_PATH)
if(NOT SNARL_C_COMPILER OR NOT SNARL_CXX_COMPILER)
	message(FATAL_ERROR "no snarl-cc and snarl-c++ beside ${CMAKE_CURRENT_LIST_FILE}")
endif()

set(CMAKE_C_COMPILER "${SNARL_C_COMPILER}")
set(CMAKE_CXX_COMPILER "${SNARL_CXX_COMPILER}")
