/*
 * A message authentication code: SipHash-2-4 (Aumasson, Bernstein, INDOCRYPT 2012). Without the key
 * no other program can find the code of a message, or change a message so that its code stays.
 */
#ifndef BASE_MAC_H
#define BASE_MAC_H

#include <stddef.h>
#include <stdint.h>

#define MAC_KEY 16u	/* bytes */

uint64_t mac(const uint8_t key[MAC_KEY], const void *data, size_t size);

#endif
