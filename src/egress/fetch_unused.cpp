// What Debian's libcurl.a calls of libraries that are not linked into the static cloche-fetch: other
// protocols, other ways to authenticate and to compress. cloche-fetch has all of them off (lock_down in
// egress/fetch_main.cpp), and not every one of these libraries exists as an archive. A call ends the program.
#include <cstddef>
#include <cstdlib>

#define NEVER_CALLED(name) \
  extern "C" void name();  \
  extern "C" void name() { std::abort(); }

// Called at the start and at the end, and when libcurl says what it was built with.
extern "C" {
int libssh2_init(int);
int libssh2_init(int) { return 0; }
void libssh2_exit();
void libssh2_exit() {}
const char* libssh2_version(int);
const char* libssh2_version(int) { return nullptr; }
const void* nghttp2_version(int);
const void* nghttp2_version(int) { return nullptr; }
const char* idn2_check_version(const char*);
const char* idn2_check_version(const char*) {
  return nullptr;
}  // libcurl then refuses names that are not ASCII
int idn2_lookup_ul(const char*, char**, int);
int idn2_lookup_ul(const char*, char**, int) { return -1; }
void idn2_free(void*);
void idn2_free(void*) {}
extern const void* const GSS_C_NT_HOSTBASED_SERVICE;
const void* const GSS_C_NT_HOSTBASED_SERVICE = nullptr;
}

// RTMP
NEVER_CALLED(RTMP_Alloc)
NEVER_CALLED(RTMP_Close)
NEVER_CALLED(RTMP_Connect1)
NEVER_CALLED(RTMP_ConnectStream)
NEVER_CALLED(RTMP_Free)
NEVER_CALLED(RTMP_Init)
NEVER_CALLED(RTMP_Read)
NEVER_CALLED(RTMP_SetBufferMS)
NEVER_CALLED(RTMP_SetupURL)
NEVER_CALLED(RTMP_Write)

// LDAP
NEVER_CALLED(ber_bvfree)
NEVER_CALLED(ber_free)
NEVER_CALLED(ber_memfree)
NEVER_CALLED(ber_sockbuf_add_io)
NEVER_CALLED(ldap_abandon_ext)
NEVER_CALLED(ldap_err2string)
NEVER_CALLED(ldap_free_urldesc)
NEVER_CALLED(ldap_get_attribute_ber)
NEVER_CALLED(ldap_get_dn_ber)
NEVER_CALLED(ldap_get_option)
NEVER_CALLED(ldap_init_fd)
NEVER_CALLED(ldap_memfree)
NEVER_CALLED(ldap_msgfree)
NEVER_CALLED(ldap_msgtype)
NEVER_CALLED(ldap_parse_result)
NEVER_CALLED(ldap_parse_sasl_bind_result)
NEVER_CALLED(ldap_pvt_url_scheme2proto)
NEVER_CALLED(ldap_result)
NEVER_CALLED(ldap_sasl_bind)
NEVER_CALLED(ldap_search_ext)
NEVER_CALLED(ldap_set_option)
NEVER_CALLED(ldap_start_tls)
NEVER_CALLED(ldap_unbind_ext)
NEVER_CALLED(ldap_url_parse)

// SSH
NEVER_CALLED(libssh2_agent_connect)
NEVER_CALLED(libssh2_agent_disconnect)
NEVER_CALLED(libssh2_agent_free)
NEVER_CALLED(libssh2_agent_get_identity)
NEVER_CALLED(libssh2_agent_init)
NEVER_CALLED(libssh2_agent_list_identities)
NEVER_CALLED(libssh2_agent_userauth)
NEVER_CALLED(libssh2_channel_free)
NEVER_CALLED(libssh2_channel_read_ex)
NEVER_CALLED(libssh2_channel_send_eof)
NEVER_CALLED(libssh2_channel_wait_closed)
NEVER_CALLED(libssh2_channel_wait_eof)
NEVER_CALLED(libssh2_channel_write_ex)
NEVER_CALLED(libssh2_hostkey_hash)
NEVER_CALLED(libssh2_knownhost_add)
NEVER_CALLED(libssh2_knownhost_checkp)
NEVER_CALLED(libssh2_knownhost_del)
NEVER_CALLED(libssh2_knownhost_free)
NEVER_CALLED(libssh2_knownhost_get)
NEVER_CALLED(libssh2_knownhost_init)
NEVER_CALLED(libssh2_knownhost_readfile)
NEVER_CALLED(libssh2_knownhost_writefile)
NEVER_CALLED(libssh2_scp_recv2)
NEVER_CALLED(libssh2_scp_send64)
NEVER_CALLED(libssh2_session_abstract)
NEVER_CALLED(libssh2_session_block_directions)
NEVER_CALLED(libssh2_session_callback_set)
NEVER_CALLED(libssh2_session_disconnect_ex)
NEVER_CALLED(libssh2_session_flag)
NEVER_CALLED(libssh2_session_free)
NEVER_CALLED(libssh2_session_handshake)
NEVER_CALLED(libssh2_session_hostkey)
NEVER_CALLED(libssh2_session_init_ex)
NEVER_CALLED(libssh2_session_last_errno)
NEVER_CALLED(libssh2_session_last_error)
NEVER_CALLED(libssh2_session_method_pref)
NEVER_CALLED(libssh2_session_set_blocking)
NEVER_CALLED(libssh2_sftp_close_handle)
NEVER_CALLED(libssh2_sftp_init)
NEVER_CALLED(libssh2_sftp_last_error)
NEVER_CALLED(libssh2_sftp_mkdir_ex)
NEVER_CALLED(libssh2_sftp_open_ex)
NEVER_CALLED(libssh2_sftp_read)
NEVER_CALLED(libssh2_sftp_readdir_ex)
NEVER_CALLED(libssh2_sftp_rename_ex)
NEVER_CALLED(libssh2_sftp_rmdir_ex)
NEVER_CALLED(libssh2_sftp_seek64)
NEVER_CALLED(libssh2_sftp_shutdown)
NEVER_CALLED(libssh2_sftp_stat_ex)
NEVER_CALLED(libssh2_sftp_statvfs)
NEVER_CALLED(libssh2_sftp_symlink_ex)
NEVER_CALLED(libssh2_sftp_unlink_ex)
NEVER_CALLED(libssh2_sftp_write)
NEVER_CALLED(libssh2_userauth_authenticated)
NEVER_CALLED(libssh2_userauth_keyboard_interactive_ex)
NEVER_CALLED(libssh2_userauth_list)
NEVER_CALLED(libssh2_userauth_password_ex)
NEVER_CALLED(libssh2_userauth_publickey_fromfile_ex)

// GSS
NEVER_CALLED(gss_delete_sec_context)
NEVER_CALLED(gss_display_name)
NEVER_CALLED(gss_display_status)
NEVER_CALLED(gss_import_name)
NEVER_CALLED(gss_init_sec_context)
NEVER_CALLED(gss_inquire_context)
NEVER_CALLED(gss_release_buffer)
NEVER_CALLED(gss_release_name)
NEVER_CALLED(gss_unwrap)
NEVER_CALLED(gss_wrap)

// HTTP/2
NEVER_CALLED(nghttp2_http2_strerror)
NEVER_CALLED(nghttp2_is_fatal)
NEVER_CALLED(nghttp2_option_del)
NEVER_CALLED(nghttp2_option_new)
NEVER_CALLED(nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation)
NEVER_CALLED(nghttp2_pack_settings_payload)
NEVER_CALLED(nghttp2_priority_spec_init)
NEVER_CALLED(nghttp2_session_callbacks_del)
NEVER_CALLED(nghttp2_session_callbacks_new)
NEVER_CALLED(nghttp2_session_callbacks_set_error_callback)
NEVER_CALLED(nghttp2_session_callbacks_set_on_begin_headers_callback)
NEVER_CALLED(nghttp2_session_callbacks_set_on_data_chunk_recv_callback)
NEVER_CALLED(nghttp2_session_callbacks_set_on_frame_recv_callback)
NEVER_CALLED(nghttp2_session_callbacks_set_on_header_callback)
NEVER_CALLED(nghttp2_session_callbacks_set_on_stream_close_callback)
NEVER_CALLED(nghttp2_session_callbacks_set_send_callback)
NEVER_CALLED(nghttp2_session_check_request_allowed)
NEVER_CALLED(nghttp2_session_client_new2)
NEVER_CALLED(nghttp2_session_del)
NEVER_CALLED(nghttp2_session_get_remote_settings)
NEVER_CALLED(nghttp2_session_get_remote_window_size)
NEVER_CALLED(nghttp2_session_get_stream_remote_window_size)
NEVER_CALLED(nghttp2_session_get_stream_user_data)
NEVER_CALLED(nghttp2_session_mem_recv)
NEVER_CALLED(nghttp2_session_resume_data)
NEVER_CALLED(nghttp2_session_send)
NEVER_CALLED(nghttp2_session_set_local_window_size)
NEVER_CALLED(nghttp2_session_set_stream_user_data)
NEVER_CALLED(nghttp2_session_upgrade2)
NEVER_CALLED(nghttp2_session_want_read)
NEVER_CALLED(nghttp2_session_want_write)
NEVER_CALLED(nghttp2_strerror)
NEVER_CALLED(nghttp2_submit_ping)
NEVER_CALLED(nghttp2_submit_priority)
NEVER_CALLED(nghttp2_submit_request)
NEVER_CALLED(nghttp2_submit_rst_stream)
NEVER_CALLED(nghttp2_submit_settings)

// public suffixes, which cookies ask
NEVER_CALLED(psl_builtin)
NEVER_CALLED(psl_free)
NEVER_CALLED(psl_latest)
NEVER_CALLED(psl_is_cookie_domain_acceptable)

// zstd
NEVER_CALLED(ZSTD_createDStream)
NEVER_CALLED(ZSTD_decompressStream)
NEVER_CALLED(ZSTD_freeDStream)
NEVER_CALLED(ZSTD_isError)
